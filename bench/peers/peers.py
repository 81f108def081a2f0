"""Clusters articles in one pass with a library: each joins the most similar founder of a cluster of
which the estimated Jaccard similarity is enough, among equals the oldest, or founds one.

peers.py LIBRARY THRESHOLD SHINGLE ARTICLES.jsonl[.gz] RESULTS.jsonl

An article is {"id", "title", "content"} a line, a result {"id", "cluster"}. It prints how many
articles there were and the seconds of processor time that clustering took, without reading and
writing. A shingle is a run of SHINGLE characters of the text without white space."""

import gzip
import json
import sys
import time

PLACES = 128


def datasketch(threshold, size):
    from datasketch import MinHash, MinHashLSH

    def sketch(text):
        made = MinHash(num_perm=PLACES)
        made.update_batch([s.encode() for s in set(shingles(text, size))])
        return made

    return joiner(sketch, MinHashLSH(threshold=threshold, num_perm=PLACES), threshold)


def rensa(threshold, size):
    from rensa import RMinHash, RMinHashLSH

    def sketch(text):
        made = RMinHash(num_perm=PLACES, seed=42)
        made.update(shingles(text, size))
        return made

    # By default it would take 16 bands, and miss two in five pairs at .7.
    return joiner(sketch, RMinHashLSH(threshold, PLACES, num_bands=32), threshold)


def gaoya(threshold, size):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, threshold, None, None, PLACES, "char", False, (size, size))

    def join(position, text):
        text = text.ljust(size)  # without a shingle, texts would all be alike
        found = index.query(text, return_similarity=True)
        if found:
            return -max((similarity, -founder) for founder, similarity in found)[1]
        index.insert_document(position, text)
        return position

    return join


def shingles(text, size):
    return [text[i : i + size] for i in range(max(1, len(text) - size + 1))]


def joiner(sketch, lsh, threshold):
    """Returns a function from an article's position and text to the position of its founder."""
    founders = {}

    def join(position, text):
        made = sketch(text)
        best = max(((made.jaccard(founders[c]), -c) for c in lsh.query(made)), default=(0, 0))
        if best[0] >= threshold:
            return -best[1]
        lsh.insert(position, made)
        founders[position] = made
        return position

    return join


def read(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            text = (article.get("title") or "") + "\n" + (article.get("content") or "")
            yield str(article["id"]), text.encode("utf-8", "replace").decode()


library, threshold, size, source, results = sys.argv[1:]
libraries = {"datasketch": datasketch, "rensa": rensa, "gaoya": gaoya}
join = libraries[library](float(threshold), int(size))
articles = list(read(source))
started = time.process_time()
clusters = [join(position, "".join(text.split())) for position, (_, text) in enumerate(articles)]
seconds = time.process_time() - started
with open(results, "w", encoding="utf-8") as out:
    for (id, _), cluster in zip(articles, clusters):
        out.write(json.dumps({"id": id, "cluster": cluster}) + "\n")
print(len(articles), seconds)
