"""Writes a front page of the stories of a topic, and writes it again when they change.

    pip install confluent-kafka
    python frontpage.py [--brokers ADDRESSES] [--topic TOPIC] [--page FILE] [--once]

It reads the topic of stories and nothing else, from its beginning, at each start: the topic is
compacted, and has little more than the newest record of each story. The page is an HTML file that
any web server can serve. It is written for the first time once all that is there has been read.
"""

import argparse
import datetime
import html
import json
import os
import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

HOUR = 3600.0
HALF_LIFE = 6 * HOUR  # without another article, a story weighs half as much after this


def seconds(time):
    """The Unix time of a time as clusterd writes it, such as 2026-05-01T10:00:00Z."""
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def count(story):
    """The number of publishers, to 64, and whether there are more. An earlier clusterd wrote "64+"."""
    if story["publishers"] == "64+":
        return 64, True
    return story["publishers"], story.get("publishers_more", False)


class Stories:
    """The newest record of each story."""

    def __init__(self):
        self.newest = {}

    def take(self, key, value):
        """Takes a record in. One without a value says that the story has expired."""
        if value is None:
            self.newest.pop(key, None)
        else:
            self.newest[key] = json.loads(value)

    def whole(self, key):
        """The story that a story has become part of, in one step or several; None if it expired."""
        seen = set()
        while key not in seen and (story := self.newest.get(key)):
            if "merged_into" not in story:
                return story
            seen.add(key)
            key = story["merged_into"]
        return None

    def front(self, size):
        """The stories of the page, the first one first, each with the ids that lead to it."""
        parts = {}
        for key in self.newest:
            if story := self.whole(key):
                parts.setdefault(story["story_id"], []).append(key)
        # The last article of all says how late it is: what is read again, days later, gives the
        # same page.
        now = max((seconds(self.newest[key]["last_seen"]) for key in parts), default=0)
        order = sorted(parts, key=lambda key: (-weight(self.newest[key], now), key))
        return [(self.newest[key], sorted(parts[key])) for key in order[:size]]


def weight(story, now):
    """How high a story stands: many publishers, many articles just now, and not long ago."""
    age = now - seconds(story["last_seen"])
    # recent is as of the story's last article. Nothing of it is recent an hour later.
    recent = story["recent"] if age < HOUR else 0
    publishers, _ = count(story)
    return max(1, publishers) * (1 + recent) * 0.5 ** (age / HALF_LIFE)


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="{every}">
<title>Front page</title>
<style>
:root {{ color-scheme: light dark; --bg: #fafaf8; --text: #1c2025; --muted: #565e67; --line: #dcdfe3; --link: #0b559f; }}
@media (prefers-color-scheme: dark) {{ :root {{ --bg: #14171a; --text: #e5e8eb; --muted: #a5adb6; --line: #30363c; --link: #84b8f3; }} }}
body {{ margin: 0 auto; max-width: 52rem; padding: 1rem; background: var(--bg); color: var(--text); font: 15px/1.45 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.3rem; margin: 0 0 .6rem; }} h2 {{ font-size: 1rem; margin: 0; }}
ol {{ list-style: none; margin: 0; padding: 0; }} li {{ border-top: 1px solid var(--line); padding: .55rem 0; }}
li:first-child h2 {{ font-size: 1.6rem; line-height: 1.2; }} li:nth-child(n+2):nth-child(-n+4) h2 {{ font-size: 1.2rem; line-height: 1.3; }}
p {{ margin: .15rem 0 0; font-size: .86rem; color: var(--muted); font-variant-numeric: tabular-nums; }} b {{ color: var(--link); font-weight: 600; }}
</style>
<h1>Front page</h1>
<ol>
{rows}</ol>
<p>{stories} stories. The last article is of {time}.</p>
</html>
"""
ROW = """<li id="{id}">{anchors}<h2>{title}</h2>
<p>{by}<b>{publishers}</b>, {articles} in {clusters}, {recent} within its last hour. {span}.</p>
<p>{terms}</p></li>
"""


def short(time):
    """A time for people to read, to the minute."""
    return time[:16].replace("T", " ")


def span(first, last):
    """Two times, and one date where it is the same."""
    first, last = short(first), short(last)
    return f"{first} to {last[11:] if first[:10] == last[:10] else last} UTC"


def many(n, name, more=False):
    return f"{n} {name}" if n == 1 else f"{n}{'+' if more else ''} {name}s"


def row(story, ids):
    headline, (publishers, more) = story["headline"], count(story)
    values = {
        "id": story["story_id"],
        "title": headline["title"] or "(no title)",
        "by": headline["publisher"] + ": " if "publisher" in headline else "",
        "publishers": many(publishers, "publisher", more),
        "articles": many(story["articles"], "article"),
        "clusters": many(story["clusters"], "write-up"),
        "recent": story["recent"],
        "span": span(story["first_seen"], story["last_seen"]),
        "terms": " · ".join(story["terms"]),
    }
    # Feeds are of others: what stands in them is text, and never markup.
    values = {name: html.escape(str(value)) for name, value in values.items()}
    # Addresses of what became part of this story lead to it.
    merged = (html.escape(key) for key in ids if key != story["story_id"])
    return ROW.format(anchors="".join(f'<a id="{key}"></a>' for key in merged), **values)


def page(stories, size, every):
    front = stories.front(size)
    # Of all stories, the one that was last seen.
    time = max((story["last_seen"] for story in stories.newest.values()), key=seconds, default="")
    whole = sum("merged_into" not in story for story in stories.newest.values())
    return PAGE.format(
        every=every, stories=whole, time=short(time) + " UTC" if time else "no time yet",
        rows="".join(row(story, ids) for story, ids in front),
    )


def write(path, text):
    """Writes a file that nobody reads half of."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def begin(brokers, topic):
    """Returns a consumer of all partitions from their beginning, and how many these are."""
    consumer = Consumer({
        "bootstrap.servers": brokers,
        "group.id": "frontpage",  # in name only: it commits nothing
        "enable.auto.commit": False,
        # Without this, stories of batches that failed are read too.
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
    })
    found = consumer.list_topics(topic, timeout=30).topics[topic]
    if found.error:
        raise KafkaException(found.error)
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in found.partitions])
    return consumer, len(found.partitions)


def run(given):
    stories = Stories()
    consumer, partitions = begin(given.brokers, given.topic)
    ended, before, changed = set(), "", True
    while True:
        # A topic that has much to say is written down at least every few hundred records.
        for message in consumer.consume(500, timeout=1 if given.once else given.every):
            if not message.error():
                stories.take(message.key().decode(), message.value())
                changed = True
            elif message.error().code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            else:
                print(message.error(), file=sys.stderr, flush=True)
        if changed and len(ended) == partitions:
            text, changed = page(stories, given.size, given.every), False
            if text != before:
                write(given.page, text)
                before = text
                print(f"{given.page}: {len(stories.newest)} stories", flush=True)
        if given.once and len(ended) == partitions:
            return


def main():
    parser = argparse.ArgumentParser(description="Writes a front page of a topic of stories.")
    parser.add_argument("--brokers", default="127.0.0.1:9092", metavar="ADDRESSES")
    parser.add_argument("--topic", default="news-stories")
    parser.add_argument("--page", default="front.html", metavar="FILE")
    parser.add_argument("--size", type=int, default=30, metavar="N", help="stories on the page")
    parser.add_argument("--every", type=int, default=5, metavar="SECONDS", help="between two pages")
    parser.add_argument("--once", action="store_true", help="write one page, and end")
    try:
        run(parser.parse_args())
    except KafkaException as error:
        sys.exit(str(error.args[0]))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
