"""A blog whose comments pass through clusterd before anybody sees them.

    python3 blog.py [--clusterd URL] [--listen HOST:PORT] [--data FILE]

It needs nothing but Python. A comment is shown once clusterd has said that it carries no label
that hides. A moderator labels one comment, and clusterd says of each copy, earlier or later, that
it carries the label. If a comment carries it by a contact, a moderator reviews it first. Who may
moderate is for whatever you put before this: here, everybody may.

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
ALLOWED = "ham"  # what wins over all other labels: it is in labels.allow
MAX_TEXT, MAX_BODY = 10_000, 100_000  # in characters; in bytes, as a form has it
FAILED = (OSError, http.client.HTTPException)  # what a question ends with that has no answer

SCHEMA = """
CREATE TABLE IF NOT EXISTS comments (
    number   INTEGER PRIMARY KEY,
    article  TEXT UNIQUE,               -- its id at clusterd
    text     TEXT NOT NULL,
    state    TEXT DEFAULT 'waiting',    -- then shown, hidden, or held for review
    cluster  TEXT,
    position INTEGER DEFAULT -1,        -- of what was last said about it
    fingerprint TEXT                    -- equal comments have the same
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
        """Returns the clusters that have labels, and the position as of which they do."""
        page = self.ask("/v1/labels")
        clusters, position = page["clusters"], page["as_of"][0]["position"]
        while cursor := page.get("next"):
            page = self.ask("/v1/labels?cursor=" + urllib.parse.quote(cursor))
            clusters += page["clusters"]
        return clusters, position

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


def contact_of(labels):
    """Returns the contact by which the label came, as a request for a label names it; nothing if
    somebody labelled the cluster."""
    for label in labels:
        if label["label"] == LABEL and not label.get("trial"):
            return {key: label[key] for key in ("contact", "space", "partition") if key in label}
    return {}


def verdict(labels, by_contact):
    """Says what becomes of a comment with these labels. One that has the label by a contact may be
    honest, such as a warning of the seller: a moderator looks at it."""
    if ALLOWED in labels or LABEL not in labels:
        return "shown"
    return "held" if by_contact else "hidden"


def told(label, done):
    """Says what a label has done."""
    labelled = "no longer labelled" if label["action"] == "remove" else "labelled"
    what = {"article": "one comment alone", "contact": label.get("contact")}
    members = f"{done.get('members', 'all')} comment(s)"
    return f"{labelled} {label['label']}: {what.get(label.get('target'), members)}"


class Refused(Exception):
    """Says why a moderator cannot do something to a comment."""


class Blog:
    """The comments, and which of them are shown."""

    def __init__(self, path, clusterd):
        self.clusterd = clusterd
        self.lock = threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.db.executescript(SCHEMA)
        if "fingerprint" not in [row[1] for row in self.query("PRAGMA table_info(comments)")]:
            self.query("ALTER TABLE comments ADD COLUMN fingerprint TEXT")  # of an earlier blog
        self.last, self.said = None, ""  # what a moderator did last

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
        article = result["article_id"]
        self.query(
            "UPDATE comments SET cluster = ?, fingerprint = ? WHERE article = ?",
            result["cluster_id"], result.get("fingerprint"), article,
        )
        by_contact = contact_of(result.get("labelled_by", []))
        state = verdict(result.get("labels", []), by_contact)
        self.decide(state, result["position"], article)

    def corrected(self, data):
        """Does what is said of an earlier comment."""
        by_contact = "contact" in data
        if LABEL in data["labels"] and (data["label"] != LABEL or "target" in data):
            # The change is of something else: it does not say how its cluster has the label.
            cluster = self.clusterd.ask("/v1/clusters/" + data["cluster_id"])
            by_contact = contact_of(cluster["labels"])
        state = verdict(data["labels"], by_contact)
        self.decide(state, data["position"], data["article_id"])
        if data.get("target") == "article":
            self.refresh()  # copies of its text are as harmless, and have no corrections of their own

    def decide(self, state, position, article):
        """Shows, hides or holds a comment, from a position of the stream on."""
        # Answers and events overtake one another: the higher position counts.
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
                        self.corrected(data)
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
        self.refresh()

    def refresh(self):
        """Does what the labels say that clusters have now."""
        clusters, position = self.clusterd.labelled()
        for cluster in clusters:
            name, carried = cluster["cluster_id"], cluster["carried"]
            by_contact = contact_of(cluster["labels"])
            own = {
                one["fingerprint"]: {l["label"] for l in one["labels"] if not l.get("trial")}
                for one in cluster.get("exceptions", [])
            }
            # A contact labels the first comments of a cluster alone: their results have said so.
            if carried or not by_contact:
                self.settle(verdict(carried, by_contact), name, position, own)
            for fingerprint, labels in own.items():
                state = verdict(labels.union(carried), by_contact and LABEL not in labels)
                self.settle(state, name, position, fingerprint=fingerprint)
        hidden = self.query(
            "SELECT DISTINCT cluster FROM comments"
            " WHERE state IN ('hidden', 'held') AND cluster IS NOT NULL"
        )
        labelled = {cluster["cluster_id"] for cluster in clusters}
        for (name,) in hidden:
            if name not in labelled and self.clusterd.has(name):  # else it has expired as spam
                self.settle("shown", name, position)

    def settle(self, state, cluster, position, but=(), fingerprint=None):
        """Decides on the comments of a cluster that nothing later was said about: on those with a
        fingerprint, or on all but those with some."""
        self.query(
            "UPDATE comments SET state = ?, position = ?"
            " WHERE cluster = ? AND position <= ? AND state != 'waiting'"
            " AND coalesce(fingerprint, '') NOT IN (SELECT value FROM json_each(?))"
            " AND coalesce(fingerprint = ?, true)",
            state, position, cluster, position, json.dumps(list(but)), fingerprint,
        )

    def moderate(self, number, action):
        """Does what a moderator says of a comment, and returns what was done."""
        try:
            label = self.label(number, action)
            [done] = self.clusterd.ask("/v1/labels", label)["results"]
            self.last, self.said = label, told(label, done)
            self.refresh()  # no event says that a label by a contact is one by hand now
            return self.said
        except urllib.error.HTTPError as error:
            return json.load(error)["detail"]
        except FAILED as error:
            return f"clusterd does not answer: {error}"
        except Refused as error:
            return f"comment {number} {error}"

    def label(self, number, action):
        """Returns the request for a label that a moderator means."""
        if action == "undo" and self.last:
            back = "remove" if self.last["action"] == "add" else "add"
            return self.last | {"action": back}
        found = self.query("SELECT cluster, article FROM comments WHERE number = ?", number)
        if not found or not found[0][0]:
            raise Refused("is in no cluster")
        cluster, article = found[0]
        if action == "only this":
            return {"target": "article", "article_id": article, "label": ALLOWED, "action": "add"}
        if action == "harmless":
            contact = contact_of(self.clusterd.ask("/v1/clusters/" + cluster)["labels"])
            if not contact:
                raise Refused("has no label by a contact")
            return {"target": "contact", **contact, "label": ALLOWED, "action": "add"}
        return {"cluster_id": cluster, "label": LABEL, "action": action}


class Pages(http.server.BaseHTTPRequestHandler):
    """Comments for readers at /, with buttons for moderators at /moderate."""

    protocol_version = "HTTP/1.1"
    blog: Blog

    def do_GET(self):
        if self.path == "/":
            self.comments("WHERE state = 'shown'", lambda state: "", "")
        elif self.path == "/moderate":
            undo = html.escape(self.blog.said) + UNDO if self.blog.last else ""
            self.comments("", lambda state: BUTTONS.get(state, ""), undo)
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
        elif self.path == "/moderate" and form.get("comment") and form.get("action") in ACTIONS:
            done = self.blog.moderate(form["comment"], form["action"])
            self.answer(303, done + "\n", "/moderate")
        else:
            self.send_error(400)

    def comments(self, which, buttons, head):
        rows = self.blog.query(
            f"SELECT number, text, state FROM comments {which} ORDER BY state != 'held', number"
        )
        lines = (
            ROW.format(number, html.escape(text), state, buttons(state).format(number))
            for number, text, state in rows
        )
        self.answer(200, PAGE.format(head, "".join(lines)))

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


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A blog</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><style>body {{ overflow-wrap: anywhere; }}</style>
<h1>A blog</h1>{}<ol>
{}</ol>
<form method="post" action="/comments">
<textarea name="text" aria-label="Comment" required></textarea> <button>Comment</button></form>
"""
ROW = '<li value="{0}">{1} <em>{2}</em> {3}</li>\n'
ACTIONS = {
    "add": "Spam",
    "remove": "Not spam",
    "only this": "Only this comment is fine",
    "harmless": "This contact is harmless",
    "undo": "Undo",
}


def form(*actions):
    """Returns the buttons of a comment."""
    buttons = (f'<button name="action" value="{a}">{ACTIONS[a]}</button>\n' for a in actions)
    return f"""<form method="post"><input type="hidden" name="comment" value="{{}}">
{"".join(buttons)}</form>"""


BUTTONS = {
    "shown": form("add"),
    "held": form("add", "only this", "harmless"),
    "hidden": form("remove", "only this"),
}
UNDO = form("undo").format(0)


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
    print(f"{page} has the comments, {page}moderate the buttons to label them", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
