package method_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// With contacts.join, and only then, every method finds the contacts of an article, also those
// that are varied, in links, or masked, and says how. What it compares stays the same.
func TestContacts(t *testing.T) {
	check.OneGoroutine(t)
	const content = `<p>Big bonus today for all new players, register at once and ask ` +
		`А L Е X I S 1 7 or <a href="http://winslots.com/?a=1">here</a>, 139-1357-2468</p>`
	want := []string{"name:alexis17", "number:13913572468", "site:winslots.com"}
	for _, name := range method.Names() {
		plain := ofSecret(t, name, "")
		joining := ofSecret(t, name, "", "contacts.join=true")
		a, _ := plain.NewFingerprinter()("", content)
		b, ok := joining.NewFingerprinter()("", content)
		if got := slices.Collect(b.Contacts.All()); !ok || !slices.Equal(got, want) {
			t.Errorf("%s finds %q, want %q", name, got, want)
		}
		if a.Contacts != "" || a.Hash != b.Hash || a.Sketch != b.Sketch {
			t.Errorf("%s: without and with contacts the fingerprints are %+v and %+v", name, a, b)
		}
		if joining.Distance(a, b) != 0 || joining.Threshold() != plain.Threshold() {
			t.Errorf("%s: contacts change distances", name)
		}
		if joining.Identity() != plain.Identity() ||
			joining.ThresholdSettings() != plain.ThresholdSettings() {
			t.Errorf("%s: contacts change the identity: %s, %s", name, joining.Identity(),
				joining.ThresholdSettings())
		}
		if of := method.ContactsIdentity(joining); !strings.HasPrefix(of, "contacts=") ||
			method.ContactsIdentity(plain) != "" {
			t.Errorf("%s: contacts are found as %q", name, of)
		}
		checkContacts(t, name, plain, joining, b)
	}
}

// checkContacts holds a method to what fingerprints may have.
func checkContacts(t *testing.T, name string, plain, joining method.Method,
	f singlepass.Fingerprint,
) {
	t.Helper()
	if err := joining.Check(f); err != nil {
		t.Errorf("%s refuses its own fingerprint: %v", name, err)
	}
	f.Contacts = "b\na\n"
	check.ErrorHas(t, joining.Check(f), "contacts are not in order")
	f.Contacts = ""
	if err := plain.Check(f); err != nil {
		t.Errorf("%s without contacts: %v", name, err)
	}
}

// With masks, articles are the same that differ in nothing else, and their contacts are still
// found.
func TestMasks(t *testing.T) {
	check.OneGoroutine(t)
	const a = "big bonus today for all new players, register at once and ask alexis17 on 31 chances"
	const b = "big bonus today for all new players, register at once and ask lucky88 on 2,450 chances"
	for _, name := range method.Names() {
		for _, masked := range []bool{false, true} {
			settings := []string{"text.fold=true", "contacts.join=true"}
			m := ofSecret(t, name, "", settings...)
			if masked {
				c := configured(name)
				c.Text.Fold, c.Contacts.Join = fold.Latest, true
				c.Text.Mask = []string{"contacts", "numbers"}
				m = methodOf(t, c)
			}
			printer := m.NewFingerprinter()
			f, _ := printer("", a)
			g, _ := printer("", b)
			if same := m.Distance(f, g) == 0; same != masked {
				t.Errorf("%s with masks %t: the texts are the same: %t", name, masked, same)
			}
			if f.Contacts != "name:alexis17\n" || g.Contacts != "name:lucky88\n" {
				t.Errorf("%s with masks %t: contacts %q, %q", name, masked, f.Contacts, g.Contacts)
			}
			if named := strings.Contains(m.Identity(), ",mask=contacts+numbers/"); named != masked {
				t.Errorf("%s with masks %t: identity %s", name, masked, m.Identity())
			}
		}
	}
}

// A name without digits is a contact where it is written in a style, and elsewhere a word.
func TestStyledNamesAreContacts(t *testing.T) {
	fingerprint := ofSecret(t, "exact", "", "contacts.join=true").NewFingerprinter()
	for content, want := range map[string]string{
		"main di 𝐁𝐄𝐓𝐌𝐄𝐍 sekarang":         "name:betmen\n",
		"ask Ⓐⓛⓔⓧⓘⓢ or 🅰🅻🅴🆇🅸🆂":            "name:alexis\n",
		"⭐ A L E X I S ⭐ gacor":           "name:alexis\n",
		"<p>𝑏𝑒𝑡𝑚𝑒𝑛</p><p>B-E-T-M-E-N</p>": "name:betmen\n",
		"Betmen and ALEXIS, 𝐍𝐎𝐖 or W O W": "",
	} {
		if f, _ := fingerprint("", content); string(f.Contacts) != want {
			t.Errorf("%q has the contacts %q, want %q", content, f.Contacts, want)
		}
	}
}

func methodOf(t *testing.T, c config.Config) method.Method {
	t.Helper()
	m, err := method.New(c.MethodSettings())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestContactsIgnored(t *testing.T) {
	c := configured("exact")
	c.Contacts.Join = true
	path := filepath.Join(t.TempDir(), "ours.txt")
	c.Contacts.Ignore = []string{path}
	_, err := method.New(c.MethodSettings())
	check.ErrorHas(t, err, "loading the contacts to ignore", path)
	if err := os.WriteFile(path, []byte("name:alex*\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := methodOf(t, c)
	if f, _ := m.NewFingerprinter()("", "ask alexis17 or lucky88"); f.Contacts != "name:lucky88\n" {
		t.Errorf("contacts %q", f.Contacts)
	}
	other := method.ContactsIdentity(ofSecret(t, "exact", "", "contacts.join=true"))
	if method.ContactsIdentity(m) == other {
		t.Errorf("with a list and without one contacts are found as %s", other)
	}
}

// The name of a contact is exact: folding makes no letters of its digits.
func TestContactsKeepTheirDigits(t *testing.T) {
	joining := ofSecret(t, "exact", "", "contacts.join=true", "text.fold=true")
	f, _ := joining.NewFingerprinter()("", "cheap v1agra, telegram m4riebell, today only")
	want := []string{"name:m4riebell"}
	if got := slices.Collect(f.Contacts.All()); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
