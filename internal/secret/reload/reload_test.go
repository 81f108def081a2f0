package reload

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// join understands all files but those that say bad.
func join(files [][]byte) (string, error) {
	all := string(bytes.Join(files, []byte("+")))
	if strings.Contains(all, "bad") {
		return "", errors.New("is bad")
	}
	return all, nil
}

// What files hold is looked at once a second. What cannot be understood changes nothing, and is
// logged once.
func TestGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
		write(t, a, "1")
		write(t, b, "1")
		var log bytes.Buffer
		v, err := New("some.key", []Source{{Path: a}, {Path: b}}, join,
			slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name   string
			do     func()
			after  time.Duration
			want   string
			logged string // once; empty: nothing
		}{
			{"at first", func() {}, 0, "1+1", ""},
			{"within a second", func() { write(t, a, "2") }, 999 * time.Millisecond, "1+1", ""},
			{"after it", func() {}, time.Millisecond, "2+1", "some.key was read again"},
			{"nothing new", func() { write(t, a, "2") }, time.Second, "2+1", ""},
			{"of one size and age", func() { write(t, b, "3") }, time.Second, "2+3", "was read again"},
			{"broken", func() { write(t, b, "bad") }, time.Second, "2+3", `level=ERROR`},
			{"broken still", func() {}, time.Second, "2+3", ""},
			{"broken in another way", func() { _ = os.Remove(b) }, time.Second, "2+3", "no such file"},
			{"mended", func() { write(t, b, "4") }, time.Second, "2+4", "was read again"},
			{
				"a folder", func() { _ = os.Remove(a); _ = os.Mkdir(a, 0o700) }, time.Second, "2+4",
				"is no regular file",
			},
			{
				"as before", func() { _ = os.Remove(a); write(t, a, "2") }, time.Second, "2+4",
				"was read again",
			},
			{
				"replaced", func() { write(t, a+"x", "5"); _ = os.Rename(a+"x", a) }, time.Second, "5+4",
				"was read again",
			},
			{"just written", func() {
				write(t, a, "6")
				at := time.Now().Add(500 * time.Millisecond)
				_ = os.Chtimes(a, at, at)
			}, time.Second, "5+4", ""},
			{"a second later", func() {}, time.Second, "6+4", "was read again"},
			{
				"too large", func() { write(t, a, strings.Repeat("x", 1<<20+1)) }, time.Second, "6+4",
				"more than 1 MiB",
			},
		} {
			log.Reset()
			step.do()
			time.Sleep(step.after)
			for range 3 {
				if got := v.Get(); got != step.want {
					t.Errorf("%s: %.20q, want %q", step.name, got, step.want)
				}
			}
			if lines := strings.Count(log.String(), "\n"); step.logged == "" && lines != 0 ||
				step.logged != "" && (lines != 1 || !strings.Contains(log.String(), step.logged)) {
				t.Errorf("%s: logged %q, want %q", step.name, log.String(), step.logged)
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad"), "bad")
	for name, want := range map[string]string{
		"bad": "some.key: is bad", "none": "some.key: stat ", ".": "some.key: ",
	} {
		_, err := New("some.key", []Source{{Path: filepath.Join(dir, name)}}, join, nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Who may read a private file is said whenever it is read.
func TestOthersMayRead(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{
		0o600: false, 0o640: false, 0o644: true, 0o602: true,
	} {
		for _, private := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), "a")
			write(t, path, "1")
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			if _, err := New("some.key", []Source{{path, private}}, join,
				slog.New(slog.NewTextHandler(&log, nil))); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(log.String(), "level=WARN"); got != (warned && private) {
				t.Errorf("%v, private %v: logged %q", mode, private, &log)
			}
		}
	}
}

// Many may ask at once while the file changes; the race detector looks on.
func TestGetAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a")
		write(t, path, "0")
		v, err := New("some.key", []Source{{Path: path}}, join, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 10 {
					time.Sleep(time.Second)
					if v.Get() == "" {
						t.Error("nothing is there")
					}
				}
			})
		}
		for _, text := range []string{"1", "bad", "2"} {
			time.Sleep(time.Second)
			write(t, path+"new", text)
			if err := os.Rename(path+"new", path); err != nil {
				t.Error(err)
			}
		}
		group.Wait()
		if got := v.Get(); got != "2" {
			t.Errorf("%q in the end, want 2", got)
		}
	})
}
