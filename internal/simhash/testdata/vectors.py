#!/usr/bin/env python3
"""Golden vectors of package simhash, computed without any of its code.

    python3 vectors.py > vectors.json

Needs the standard library only. Python has no XXH3, so the table XXH3 below holds
the digests that the PyPI package xxhash 4.1.0 (the reference implementation,
xxHash 0.8.4) gives, seed 0; where that package is installed the table is checked
against it.
"""

import decimal
import json
import sys
import unicodedata

try:
    import xxhash
except ImportError:
    xxhash = None

MASK = (1 << 64) - 1

XXH3 = {
    "": 0x2D06800538D394C2,
    "a": 0xE6C632B61E964E1F,
    "ab": 0xA873719C24D5735C,
    "rain": 0x0C0A103CA86D7059,
    "typhoon": 0xC889401D93BAE7C8,
    "cancelled": 0xF4D3DCF009C281C2,
    "the harbour is closed": 0x4472F2EEF119ECC9,
    "台": 0x000977E4C5F9A8F5,
    "台风": 0x2F16ACEA0B4DFAEB,
    "暴雨": 0x36C13697E6662CBA,
    "气象台": 0xC782A6F3E8FB5A9F,
    "中华人民共和国": 0xC44D9FB7B3F5C940,
    "𠮷": 0xC7278452FF5372F9,
    "𠮷野家": 0x093A65BB4DF157F5,
    "🌀": 0x6873293DA539449D,
    "café": 0x4C83DBD5F29D367F,
    "5g": 0xBB97A969B70AD05D,
    "a\u0000b": 0xD5A06CD078125351,
    "near-duplicate " * 9: 0x969171FD8EF6DCF9,
    "沿海渔船返回港口" * 8: 0xCF11BBC23F61099C,
    "near-duplicate " * 20: 0xB6F87FAF9CF0CDD7,
    "港口": 0x5805832D9A6F7832,
    "渔船": 0x25D21E3B89D7FEF2,
    "coast": 0x14909B2BD1E7C06C,
    "登陆": 0x3FC704FF80A0839F,
    "沿海": 0x26C8F6FE2CDCB8E3,
    "返回": 0x50926D649B8704E3,
    "学校": 0x0DB01775AF06F21D,
    "停课": 0x0AD18E356A7E153C,
    "列车": 0x167F87D04ADAB58A,
    "停运": 0x5274FB135B40E9EB,
    "预警": 0xFD58F1589197FF84,
    "landfall": 0x15AC79834F500ED3,
    "boats": 0xBC8AA3A834F5DDE3,
    "harbour": 0x4525043CCC4DC55E,
    "schools": 0x9A2153DA839E32BB,
    "trains": 0x0856E6EF285AAACE,
    "warning": 0xD23C3D2264DD8446,
    "-----": 0x1827C8DC1B0F4B1C,
}

BAGS = {
    "no tokens": {},
    "one token": {"台风": 1},
    "one token, many times": {"台风": 7},
    "two tokens: bits in which they differ sum to zero": {"暴雨": 1, "typhoon": 1},
    "two tokens, equal counts above one": {"暴雨": 3, "typhoon": 3},
    "two tokens, the more frequent one decides": {"暴雨": 2, "typhoon": 1},
    "four tokens: ties of two against two": {"港口": 1, "渔船": 1, "coast": 1, "rain": 1},
    "counts below one do not count": {"暴雨": 1, "typhoon": 0, "rain": -3},
    "Chinese": {
        "台风": 5, "登陆": 2, "沿海": 3, "暴雨": 4, "渔船": 2, "返回": 1, "港口": 2,
        "学校": 1, "停课": 1, "列车": 1, "停运": 1, "预警": 3, "气象台": 2,
    },
    "English": {
        "typhoon": 4, "landfall": 2, "coast": 3, "rain": 6, "boats": 1, "harbour": 2,
        "schools": 1, "trains": 1, "cancelled": 2, "warning": 3,
    },
    "mixed": {
        "台风": 3, "typhoon": 2, "暴雨": 2, "rain": 1, "港口": 1, "harbour": 1,
        "气象台": 1, "5g": 1, "𠮷野家": 2, "🌀": 1,
    },
    "single characters": {"台": 3, "𠮷": 1, "a": 3, "暴雨": 1, "渔船": 1},
    "a repeated token owns tf": {
        "-----": 400, "台风": 2, "暴雨": 2, "沿海": 1, "coast": 1, "rain": 1, "预警": 1,
    },
}

HASHED = [
    "", "a", "ab", "rain", "typhoon", "cancelled", "the harbour is closed",
    "台", "台风", "暴雨", "气象台", "中华人民共和国",
    "𠮷", "𠮷野家", "🌀", "café", "5g", "a\u0000b",
    "near-duplicate " * 9, "沿海渔船返回港口" * 8, "near-duplicate " * 20,
]

WEIGHED = ["rain", "台风", "台", "𠮷", "a", "é", "あ"]

COUNTS = [1, 2, 3, 4, 5, 7, 10, 12, 99, 100, 1000, 65536, 118955, 1000000, 4194304]


def sdbm_raw(token):
    h = 0
    for c in token.encode("utf-8"):
        h = (c + h * 65599) & MASK
    return h


def fmix64(h):
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h ^= h >> 33
        h = h * factor & MASK
    return h ^ h >> 33


def xxh3(token):
    digest = XXH3[token]
    if xxhash is not None:
        assert digest == xxhash.xxh3_64_intdigest(token.encode("utf-8"), seed=0), token
    return digest


def is_han_character(token):
    return len(token) == 1 and unicodedata.name(token, "").startswith("CJK UNIFIED IDEOGRAPH")


def log_weight(token, count):
    with decimal.localcontext() as context:
        context.prec = 50
        exact = 65536 * (1 + decimal.Decimal(count)).ln()
        if is_han_character(token):
            exact /= 4
        return int(exact.to_integral_value(rounding=decimal.ROUND_HALF_UP))


HASHES = {"sdbm": lambda t: fmix64(sdbm_raw(t)), "sdbm-raw": sdbm_raw, "xxh3": xxh3}
WEIGHTS = {"log": log_weight, "tf": lambda t, n: 65536 * n, "set": lambda t, n: 65536}


def simhash(counts, hash_of, weight_of):
    present = [(hash_of(t), weight_of(t, n)) for t, n in counts.items() if n > 0]
    fingerprint = 0
    for bit in range(64):
        if sum(w if h >> bit & 1 else -w for h, w in present) > 0:
            fingerprint |= 1 << bit
    return fingerprint


def main():
    vectors = {
        "hashes": [
            {"token": t, **{name: f"{f(t):016x}" for name, f in HASHES.items()}}
            for t in HASHED
        ],
        "weights": [
            {"token": t, "count": n, "weights": {name: f(t, n) for name, f in WEIGHTS.items()}}
            for t in WEIGHED
            for n in COUNTS
        ],
        "fingerprints": [
            {
                "name": name,
                "counts": counts,
                "fingerprints": {
                    f"{h}/{w}": f"{simhash(counts, hash_of, weight_of):016x}"
                    for h, hash_of in HASHES.items()
                    for w, weight_of in WEIGHTS.items()
                },
            }
            for name, counts in BAGS.items()
        ],
    }
    json.dump(vectors, sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    main()
