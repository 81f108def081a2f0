"""What one would write in Python instead of clusterd: each article joins the most similar founder of a cluster in its
partition of which the estimated Jaccard similarity of the words is enough, among equals the oldest, or founds one.

cluster.py BROKERS JOB INPUT OUTPUT

JOB is the group, and begins the transactional ids. A process for each of two cores takes every other partition. Each
batch is a transaction with its results and offsets, so that each article has one result. What it lacks is recovery:
founders are in memory alone, so that after a restart articles no longer find the clusters of before. Nor does it remove
mark-up or expire clusters, and a record that is no article ends it.
"""

import collections
import json
import multiprocessing
import multiprocessing.connection
import signal
import sys
import unicodedata

import jieba
from confluent_kafka import Consumer, Producer, TopicPartition
from datasketch import MinHash, MinHashLSH

PROCESSES = 2
BATCH = 1_000  # records of a transaction at most; larger ones are not faster
WAIT = 0.1  # seconds
PLACES = 128
THRESHOLD = 0.75
EXCERPT = 120  # characters


class Clusters:
    """Those of one partition."""

    # A copy shares the permutations, which a new one would make again.
    empty = MinHash(num_perm=PLACES, scheme="affine32")

    def __init__(self):
        self.lsh = MinHashLSH(threshold=THRESHOLD, num_perm=PLACES)
        self.founders = {}  # offset -> sketch, representative
        self.sizes = {}  # offset of the founder -> members

    def result(self, article, source):
        """The result of an article, as a dictionary, with it in a cluster."""
        title, content = article.get("title") or "", article.get("content") or ""
        offset = source["offset"]
        article_id = article.get("id", f"{source['topic']}/{source['partition']}/{offset}")
        found = words(title + "\n" + content)
        if not found:
            return self.describe(article_id, source, None, None, "unclustered")
        sketch = self.empty.copy()
        sketch.update_batch(word.encode() for word in found)
        similarity, negated = max(((sketch.jaccard(self.founders[o][0]), -o) for o in self.lsh.query(sketch)), default=(0, 0))
        if similarity >= THRESHOLD:
            self.sizes[-negated] += 1
            return self.describe(article_id, source, -negated, 1 - similarity, "joined")
        shown = {"title": title} if title else {"excerpt": content[:EXCERPT]}
        self.lsh.insert(offset, sketch, check_duplication=False)
        self.founders[offset] = sketch, {"id": article_id, **shown}
        self.sizes[offset] = 1
        return self.describe(article_id, source, offset, 0, "new")

    def describe(self, article_id, source, founder, distance, status):
        clustered = founder is not None
        return {
            "article_id": article_id,
            "cluster_id": f"{source['topic']}/{source['partition']}/{founder}" if clustered else None,
            "status": status,
            "distance": distance,
            "size": self.sizes[founder] if clustered else 0,
            "representative": self.founders[founder][1] if clustered else None,
            "source": source,
        }


def words(text):
    """The different words of a text, without white space and marks."""
    text = unicodedata.normalize("NFKC", text).lower()
    return {word for word in jieba.cut(text, HMM=False) if word[0].isalnum()}


def work(number, brokers, job, source, results):
    """Clusters the partitions whose number modulo PROCESSES is number. It ends only by an error or a signal; then a
    transaction that is open is never committed."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": job,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    # Given partitions stay: with a subscription, founders would have to move with them.
    there = consumer.list_topics(source, timeout=30).topics[source].partitions
    consumer.assign([TopicPartition(source, p) for p in there if p % PROCESSES == number])
    producer = Producer(
        {
            "bootstrap.servers": brokers,
            "transactional.id": f"{job}-{number}",
            "compression.type": "lz4",
            "queue.buffering.max.messages": 10 * BATCH,
        }
    )
    producer.init_transactions()
    partitions = collections.defaultdict(Clusters)
    while True:
        if messages := consumer.consume(BATCH, WAIT):
            commit(messages, consumer, producer, partitions, results)


def commit(messages, consumer, producer, partitions, results):
    """Clusters a batch and commits its results and offsets together."""
    producer.begin_transaction()
    ends = {}
    for message in messages:
        if message.error():
            raise RuntimeError(message.error())
        source = {"topic": message.topic(), "partition": message.partition(), "offset": message.offset()}
        result = partitions[source["partition"]].result(json.loads(message.value()), source)
        producer.produce(results, json.dumps(result, ensure_ascii=False), result["cluster_id"] or result["article_id"])
        ends[source["topic"], source["partition"]] = source["offset"] + 1
    offsets = [TopicPartition(topic, partition, end) for (topic, partition), end in ends.items()]
    producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata())
    producer.commit_transaction()


def main():
    jieba.setLogLevel("ERROR")
    jieba.initialize()  # before the processes part, which then share the dictionary
    # SIGTERM ends it as an exception does: then what it has started, which is daemonic, ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    workers = [multiprocessing.Process(target=work, args=(n, *sys.argv[1:]), daemon=True) for n in range(PROCESSES)]
    for worker in workers:
        worker.start()
    multiprocessing.connection.wait([worker.sentinel for worker in workers])
    sys.exit("a worker has ended")


if __name__ == "__main__":
    main()
