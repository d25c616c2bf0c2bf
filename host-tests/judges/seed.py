"""The draws of a match, as docs/ and the manual tell anybody to repeat them."""

import hashlib


def draws(seed):
    """A function that draws the next value below n."""
    number = 0

    def below(n):
        nonlocal number
        while True:
            digest = hashlib.sha256(seed + number.to_bytes(4, "big")).digest()
            number += 1
            x = int.from_bytes(digest[:4], "big")
            if x < n * (2**32 // n):
                return x % n

    return below
