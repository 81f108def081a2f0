"""Reads feeds (RSS 2.0, Atom) and writes each of their articles as clusterd reads them: one JSON
object a line.

    python3 feeds.py FILE > articles.jsonl

FILE names one feed a line: a URL, or a file. It needs nothing but Python. A feed that cannot be
read is named on standard error, and the others are read all the same; it then exits with 1. An
article that is read again is a copy of itself: keep the ids of those that were sent.
"""

import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

# The names in RSS and in Atom of what clusterd reads, the best one first.
FIELDS = {
    "id": ("guid", "id", "link"),
    "title": ("title",),
    "content": ("encoded", "content", "description", "summary"),
    "published_at": ("pubDate", "published", "updated", "date"),
    "url": ("link",),
}


def local(tag):
    """The name without its namespace."""
    return tag.rpartition("}")[2]


def value(entry, names):
    """What the first of the names holds that holds something, else None."""
    for name in names:
        for child in entry:
            if local(child.tag) == name:
                text = "".join(child.itertext()).strip() or child.get("href", "")
                if text:
                    return text
    return None


def articles(feed):
    """The articles of the feed at a URL or in a file."""
    url = urllib.parse.urlsplit(feed)
    if url.scheme:
        with urllib.request.urlopen(feed, timeout=30) as answer:
            root = ET.parse(answer).getroot()
    else:
        root = ET.parse(feed).getroot()
    for entry in root.iter():
        if local(entry.tag) in ("item", "entry"):
            article = {field: value(entry, names) for field, names in FIELDS.items()}
            article = {field: text for field, text in article.items() if text is not None}
            article["source"] = url.hostname or feed
            yield article


def main():
    failed = False
    with open(sys.argv[1], encoding="utf-8") as feeds:
        for feed in filter(None, map(str.strip, feeds)):
            try:
                for article in articles(feed):
                    print(json.dumps(article, ensure_ascii=False))
            except (OSError, ET.ParseError) as error:
                print(f"{feed}: {error}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
