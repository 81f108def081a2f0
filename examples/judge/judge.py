"""Asks clusterd about comments, and a judge about the comments that clusterd does not know.

    python3 judge.py --rspamd http://127.0.0.1:11333 < comments.jsonl
    AKISMET_KEY=... python3 judge.py --akismet https://rest.akismet.com < comments.jsonl

It needs nothing but Python. A comment is a JSON object with id, content and source, which is the
address of the site. Akismet also needs the ip of the author, and asks for name, email and agent.
For each comment a line says whether to show or to hide it, and who said so.

clusterd knows copies of labelled comments. It has no opinion of a text that it has not seen. A judge
has one. If the judge takes a comment for spam, it is labelled, so that clusterd knows the next copy.

CLUSTERD_TOKEN is a token with the rights label and write, if clusterd asks for one.
"""

import argparse
import email.message
import email.utils
import http.client
import json
import os
import sys
import urllib.parse
import urllib.request

TIMEOUT = 5  # seconds
FAILED = (OSError, ValueError, http.client.HTTPException)  # the errors of a question


def post(url, data, headers):
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return answer.read()


class Clusterd:
    def __init__(self, url):
        self.url = url

    def ask(self, path, body):
        headers = {"Content-Type": "application/json"}
        if token := os.environ.get("CLUSTERD_TOKEN"):
            headers["Authorization"] = "Bearer " + token
        return json.loads(post(self.url + path, json.dumps(body).encode(), headers))

    def send(self, comment):
        """Puts a comment into the stream, and returns its result."""
        return self.ask("/v1/articles", {part: comment[part] for part in ("id", "content", "source")})

    def label(self, cluster, judge):
        label = {"cluster_id": cluster, "label": "spam", "note": "said by " + judge}
        self.ask("/v1/labels", label)


class Rspamd:
    """Judges mail, so the comment becomes one. A mail without these headers counts as odd."""

    name = "rspamd"

    def __init__(self, url):
        self.url = url

    def is_spam(self, comment):
        site = urllib.parse.urlsplit(comment["source"]).hostname or "localhost"
        mail = email.message.EmailMessage()
        mail["From"], mail["To"] = f"comments@{site}", f"moderators@{site}"
        mail["Subject"], mail["Date"] = "A comment", email.utils.localtime()
        mail["Message-ID"] = email.utils.make_msgid(domain=site)
        mail.set_content(comment["content"])
        said = json.loads(post(self.url + "/checkv2", mail.as_bytes(), {"Hostname": site}))
        return said["action"] in ("add header", "rewrite subject", "reject")


class Akismet:
    name = "akismet"

    def __init__(self, url):
        self.url = url

    def is_spam(self, comment):
        form = {
            "api_key": os.environ["AKISMET_KEY"],
            "blog": comment["source"],
            "user_ip": comment["ip"],
            "user_agent": comment.get("agent", ""),
            "comment_type": "comment",
            "comment_author": comment.get("name", ""),
            "comment_author_email": comment.get("email", ""),
            "comment_content": comment["content"],
        }
        said = post(self.url + "/1.1/comment-check", urllib.parse.urlencode(form).encode(), {}).decode()
        if said not in ("true", "false"):
            raise ValueError(f"Akismet says {said!r}")
        return said == "true"


def decide(comment, clusterd, judge):
    """Says whether to show or to hide a comment, and who said so."""
    result = {}
    try:
        result = clusterd.send(comment)
    except FAILED as error:
        print(f"clusterd: {error}", file=sys.stderr)
    labels = result.get("labels", [])
    if "spam" in labels:
        return "hide", "clusterd"
    if "ham" in labels:
        return "show", "clusterd"
    try:
        if not judge.is_spam(comment):
            return "show", judge.name
    except FAILED as error:
        print(f"{judge.name}: {error}", file=sys.stderr)
        return "show", "nobody"
    if cluster := result.get("cluster_id"):
        try:
            clusterd.label(cluster, judge.name)
        except FAILED as error:
            print(f"clusterd: {error}", file=sys.stderr)
    return "hide", judge.name


def main():
    parser = argparse.ArgumentParser(description="Comments pass through clusterd, then a judge.")
    parser.add_argument("--clusterd", default="http://127.0.0.1:8081", metavar="URL")
    judges = parser.add_mutually_exclusive_group(required=True)
    judges.add_argument("--rspamd", type=Rspamd, dest="judge", metavar="URL")
    judges.add_argument("--akismet", type=Akismet, dest="judge", metavar="URL")
    given = parser.parse_args()
    clusterd = Clusterd(given.clusterd)
    for line in sys.stdin:
        comment = json.loads(line)
        # No part may have half a character, which cannot be sent.
        comment = {part: str(said).encode(errors="replace").decode() for part, said in comment.items()}
        print(comment["id"], *decide(comment, clusterd, given.judge), flush=True)


if __name__ == "__main__":
    main()
