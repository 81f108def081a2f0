"""Clusters articles in one pass with datasketch: each joins the most similar article of which the
estimated Jaccard similarity is enough, among equals the oldest, or founds a cluster.

datasketch_minhash.py ARTICLES.jsonl[.gz] RESULTS.jsonl

An article is {"id", "title", "content"} a line, a result {"id", "cluster"}. It prints how many articles
there were and the seconds of processor time that clustering took, without reading and writing."""

import gzip
import json
import sys
import time

from datasketch import MinHash, MinHashLSH

THRESHOLD, PLACES, SHINGLE = 0.7, 128, 5


def read(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def signature(article):
    text = "".join(((article.get("title") or "") + "\n" + (article.get("content") or "")).split())
    shingles = {text[i : i + SHINGLE] for i in range(max(1, len(text) - SHINGLE + 1))}
    made = MinHash(num_perm=PLACES)
    made.update_batch([s.encode("utf-8", "replace") for s in shingles])
    return made


def cluster(articles):
    """Yields the cluster of each article: the position of its founder."""
    lsh, founders = MinHashLSH(threshold=THRESHOLD, num_perm=PLACES), {}
    for position, article in enumerate(articles):
        made = signature(article)
        best = max(((made.jaccard(founders[c]), -c) for c in lsh.query(made)), default=(0, 0))
        if best[0] >= THRESHOLD:
            yield -best[1]
        else:
            lsh.insert(position, made)
            founders[position] = made
            yield position


articles = read(sys.argv[1])
started = time.process_time()
clusters = list(cluster(articles))
seconds = time.process_time() - started
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for article, c in zip(articles, clusters):
        out.write(json.dumps({"id": str(article["id"]), "cluster": c}) + "\n")
print(len(articles), seconds)
