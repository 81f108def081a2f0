"""A blog whose comments pass through clusterd before anybody sees them.

    python3 blog.py [--clusterd URL] [--listen HOST:PORT] [--data FILE]

It needs nothing but Python. A comment is shown once clusterd has said that it carries no label
that hides. A moderator marks one comment, and clusterd says of each copy, earlier or later, that it
carries the label. Who may moderate is for whatever you put before this: here, everybody may.

CLUSTERD_TOKEN is a token with the rights read, label and write, if clusterd asks for one.
"""

import argparse
import html
import http.client
import http.server
import json
import os
import sqlite3
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

LABEL = "spam"  # what hides a comment
MAX_TEXT, MAX_BODY = 10_000, 100_000  # in characters; in bytes, as a form has it
FAILED = (OSError, http.client.HTTPException)  # what a question ends with that has no answer

SCHEMA = """
CREATE TABLE IF NOT EXISTS comments (
    number   INTEGER PRIMARY KEY,
    article  TEXT UNIQUE,               -- its id at clusterd
    text     TEXT NOT NULL,
    state    TEXT DEFAULT 'waiting',    -- then shown or hidden
    cluster  TEXT,
    position INTEGER DEFAULT -1         -- of what was last said about it
);
CREATE INDEX IF NOT EXISTS by_cluster ON comments (cluster);
"""


class Clusterd:
    """What the blog asks clusterd."""

    def __init__(self, url):
        self.url = url

    def open(self, path, body=None, timeout=15):
        headers = {"Content-Type": "application/json"}
        if token := os.environ.get("CLUSTERD_TOKEN"):
            headers["Authorization"] = "Bearer " + token
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        return urllib.request.urlopen(request, timeout=timeout)

    def ask(self, path, body=None):
        with self.open(path, body) as answer:
            return json.load(answer)

    def labelled(self):
        """Returns the clusters that carry the label, and the position as of which they do."""
        page = self.ask("/v1/labels")
        clusters, position = page["clusters"], page["as_of"][0]["position"]
        while cursor := page.get("next"):
            page = self.ask("/v1/labels?cursor=" + urllib.parse.quote(cursor))
            clusters += page["clusters"]
        return {c["cluster_id"] for c in clusters if LABEL in c["carried"]}, position

    def has(self, cluster):
        """Says whether a cluster is still there."""
        try:
            self.ask("/v1/clusters/" + cluster)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
            raise
        return True

    def events(self):
        """Yields the kind and the data of each event, the first of which is "listening"."""
        # The stream is never silent for long: a minute without a line is a lost connection.
        with self.open("/v1/stream", timeout=60) as stream:
            kind = data = ""
            for line in stream:
                field, _, value = line.decode().rstrip("\r\n").partition(": ")
                if not field and value == "open":
                    yield "listening", None
                elif field == "event":
                    kind = value
                elif field == "data":
                    data = value
                elif not field and data:
                    yield kind, json.loads(data)
                    data = ""


class Blog:
    """The comments, and which of them are shown."""

    def __init__(self, path, clusterd):
        self.clusterd = clusterd
        self.lock = threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.executescript(SCHEMA)

    def query(self, statement, *values):
        with self.lock:
            return self.db.execute(statement, values).fetchall()

    def add(self, text):
        """Takes a comment in, and returns its number and its state."""
        article = uuid.uuid4().hex  # which no other blog on the same topic has
        [(number,)] = self.query(
            "INSERT INTO comments (article, text) VALUES (?, ?) RETURNING number", article, text
        )
        try:
            self.send(article, text)
        except FAILED as error:
            print(f"comment {number} waits: {error}", flush=True)  # for catch_up
        [(state,)] = self.query("SELECT state FROM comments WHERE number = ?", number)
        return number, state

    def send(self, article, text):
        """Puts a comment into the stream, whose answer says which cluster it is in."""
        comment = {"id": article, "content": text, "source": "blog"}
        result = self.clusterd.ask("/v1/articles", comment)
        if "status" in result:  # else it takes longer, and comes as an event
            self.assigned(result)

    def assigned(self, result):
        article, cluster = result["article_id"], result["cluster_id"]
        self.query("UPDATE comments SET cluster = ? WHERE article = ?", cluster, article)
        self.decide(result.get("labels", []), result["position"], article)

    def decide(self, labels, position, article):
        """Shows or hides a comment, by what is so from a position of the stream on."""
        # Answers and events overtake one another: the higher position counts.
        state = "hidden" if LABEL in labels else "shown"
        self.query(
            "UPDATE comments SET state = ?, position = ? WHERE article = ? AND position <= ?",
            state, position, article, position,
        )

    def follow(self):
        """Does what the stream says, for ever."""
        while True:
            try:
                for kind, data in self.clusterd.events():
                    if kind == "result":
                        self.assigned(data)
                    elif kind == "correction":
                        self.decide(data["labels"], data["position"], data["article_id"])
                    elif kind in ("listening", "dropped"):
                        self.catch_up()
            except FAILED as error:
                print(f"the stream ended, and is opened again: {error}", flush=True)
            time.sleep(1)

    def catch_up(self):
        """Learns what was said while nobody listened."""
        # One that was sent already is sent again, as a copy of itself.
        waiting = self.query("SELECT article, text FROM comments WHERE state = 'waiting'")
        for article, text in waiting:
            self.send(article, text)
        spam, position = self.clusterd.labelled()
        hidden = self.query(
            "SELECT DISTINCT cluster FROM comments WHERE state = 'hidden' AND cluster IS NOT NULL"
        )
        for cluster in spam:
            self.settle("hidden", cluster, position)
        for (cluster,) in hidden:
            if cluster not in spam and self.clusterd.has(cluster):  # else it has expired as spam
                self.settle("shown", cluster, position)

    def settle(self, state, cluster, position):
        """Shows or hides all comments of a cluster that nothing later was said about."""
        self.query(
            "UPDATE comments SET state = ?, position = ?"
            " WHERE cluster = ? AND position <= ? AND state != 'waiting'",
            state, position, cluster, position,
        )

    def mark(self, number, action):
        """Adds the label to the cluster of a comment, or removes it; returns what was done."""
        found = self.query("SELECT cluster FROM comments WHERE number = ?", number)
        if not found or not found[0][0]:
            return f"comment {number} is in no cluster"
        label = {"cluster_id": found[0][0], "label": LABEL, "action": action}
        try:
            [done] = self.clusterd.ask("/v1/labels", label)["results"]
        except urllib.error.HTTPError as error:
            return json.load(error)["detail"]
        except FAILED as error:
            return f"clusterd does not answer: {error}"
        marked = "marked" if action == "add" else "no longer marked"
        return f"{marked} {LABEL}: {done.get('members', 'all')} comment(s)"


class Pages(http.server.BaseHTTPRequestHandler):
    """Comments for readers at /, with marks for moderators at /moderate."""

    protocol_version = "HTTP/1.1"
    blog: Blog

    def do_GET(self):
        if self.path == "/":
            self.comments("WHERE state = 'shown'", "")
        elif self.path == "/moderate":
            self.comments("", MARK)
        else:
            self.send_error(404)

    def do_POST(self):
        # A browser says where a form is from. Other sites' forms are not taken.
        if self.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            return self.send_error(403)
        size = int(self.headers.get("Content-Length", 0))
        if not 0 <= size <= MAX_BODY:
            return self.send_error(413)
        body = self.rfile.read(size).decode("utf-8", "replace")
        form = dict(urllib.parse.parse_qsl(body))
        text = form.get("text", "").strip()
        if self.path == "/comments" and 0 < len(text) <= MAX_TEXT:
            number, state = self.blog.add(text)
            self.answer(303, f"comment {number} is {state}\n", "/")
        elif self.path == "/moderate" and form.get("comment") and form.get("action"):
            done = self.blog.mark(form["comment"], form["action"])
            self.answer(303, done + "\n", "/moderate")
        else:
            self.send_error(400)

    def comments(self, which, buttons):
        rows = self.blog.query(f"SELECT number, text, state FROM comments {which} ORDER BY number")
        lines = (
            ROW.format(number, html.escape(text), state, buttons.format(number))
            for number, text, state in rows
        )
        self.answer(200, PAGE.format("".join(lines)))

    def answer(self, status, body, location=""):
        data = body.encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", f"text/{'plain' if location else 'html'}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


PAGE = """<!doctype html><meta charset="utf-8"><title>A blog</title>
<h1>A blog</h1><ol>
{}</ol>
<form method="post" action="/comments"><textarea name="text" required></textarea>
<button>Comment</button></form>
"""
ROW = '<li value="{0}">{1} <em>{2}</em> {3}</li>\n'
MARK = """<form method="post"><input type="hidden" name="comment" value="{0}">
<button name="action" value="add">Spam</button>
<button name="action" value="remove">Not spam</button></form>"""


def main():
    parser = argparse.ArgumentParser(description="A blog whose comments pass through clusterd.")
    parser.add_argument("--clusterd", default="http://127.0.0.1:8081", metavar="URL")
    parser.add_argument("--listen", default="127.0.0.1:8000", metavar="HOST:PORT")
    parser.add_argument("--data", default="blog.db", metavar="FILE")
    given = parser.parse_args()
    Pages.blog = Blog(given.data, Clusterd(given.clusterd))
    threading.Thread(target=Pages.blog.follow, daemon=True).start()
    host, _, port = given.listen.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Pages)
    page = f"http://{given.listen}/"
    print(f"{page} has the comments, {page}moderate the buttons to mark them", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
