"""Says of each comment whether to show it: when its result comes, and when a label changes it later.

    pip install confluent-kafka
    python read.py [BROKERS [RESULTS [CORRECTIONS [CLUSTERS]]]]
"""

import json
import sys

from confluent_kafka import Consumer

DEFAULTS = ["127.0.0.1:9092", "comment-clusters", "comment-corrections", "comment-cluster-state"]
brokers, results, corrections, clusters = sys.argv[1:] + DEFAULTS[len(sys.argv) - 1 :]

known = {}  # article id -> position of what was decided last; keep it in your database


def decide(article, position, labels):
    # Results and corrections are two topics, so a correction can come before the result that it
    # corrects. The higher position counts. To decide the same twice, after a restart, is harmless.
    if position >= known.get(article, 0):
        known[article] = position
        print(article, "hide" if "spam" in labels else "show", ",".join(labels), flush=True)


def parse(message):
    """What a result or a correction says: article, position, labels. It fails on any other record."""
    said = json.loads(message.value())
    if message.topic() == corrections:
        position = said["position"]
    else:
        position = dict(message.headers() or []).get("clusterd.position")
        if position is None and said["status"] == "unclustered":
            position = 0  # an earlier clusterd wrote it
    return said["article_id"], int(position), said.get("labels") or []


def take(message):
    if message.topic() == clusters:
        # A tombstone says that a cluster has expired. Keys with a colon are not those of clusters.
        if message.value() is None and message.key() and b":" not in message.key():
            print(message.key().decode(), "expired", flush=True)
        return
    try:
        said = parse(message)
    except Exception as error:  # somebody else wrote it: a reader must not stop there for ever
        at = f"{message.topic()}/{message.partition()}/{message.offset()}"
        print(f"{at} skipped: {error!r}", file=sys.stderr, flush=True)
        return
    decide(*said)


consumer = Consumer({
    "bootstrap.servers": brokers,
    "group.id": "reader-python",
    "auto.offset.reset": "earliest",
    # Without this, results of batches that failed are read too.
    "isolation.level": "read_committed",
    # What was read is committed once it was acted on, and not before.
    "enable.auto.offset.store": False,
})
consumer.subscribe([results, corrections, clusters])
while True:
    message = consumer.poll(1.0)
    if message is None:
        continue
    if message.error():
        print(message.error(), file=sys.stderr)
        continue
    take(message)
    consumer.store_offsets(message)
