"""Signs registrations with the cryptography package, for ProofOracleTests: COUNT [SEED] > proofs.jsonl.

One JSON object a line. A wallet's signature comes without its last byte, which says which of two keys made it: the
package cannot recover keys, so the test tries both and one alone must do.
"""

import base64
import hashlib
import json
import random
import sys
from datetime import datetime, timezone

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
MASK = (1 << 64) - 1


def rotated(lane, count):
    return ((lane << count) | (lane >> (64 - count))) & MASK if count else lane


def round_constants():
    """From the register of FIPS 202 §3.2.5, not from a table."""
    register, constants = 1, []
    for _ in range(24):
        constant = 0
        for power in range(7):
            constant |= (register & 1) << ((1 << power) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


def keccak(message):
    padded = bytearray(message) + b"\x01"
    padded += bytes(-len(padded) % 136)
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for block in range(0, len(padded), 136):
        for index in range(17):
            lane = int.from_bytes(padded[block + 8 * index : block + 8 * index + 8], "little")
            lanes[index % 5][index // 5] ^= lane
        for constant in round_constants():
            sums = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
            for x in range(5):
                mixed = sums[(x - 1) % 5] ^ rotated(sums[(x + 1) % 5], 1)
                lanes[x] = [lane ^ mixed for lane in lanes[x]]
            moved = [[0] * 5 for _ in range(5)]
            moved[0][0] = lanes[0][0]
            x, y = 1, 0
            for step in range(24):
                moved[y][(2 * x + 3 * y) % 5] = rotated(lanes[x][y], (step + 1) * (step + 2) // 2 % 64)
                x, y = y, (2 * x + 3 * y) % 5
            for x in range(5):
                for y in range(5):
                    lanes[x][y] = moved[x][y] ^ (~moved[(x + 1) % 5][y] & MASK & moved[(x + 2) % 5][y])
            lanes[0][0] ^= constant
    return b"".join(lanes[index][0].to_bytes(8, "little") for index in range(4))


def address(public_key):
    point = public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    plain = keccak(point[1:])[-20:].hex()
    digest = keccak(plain.encode()).hex()
    return "0x" + "".join(c.upper() if int(digest[i], 16) >= 8 else c for i, c in enumerate(plain))


def text(claim, line):
    stamps = [datetime.fromtimestamp(claim[name], timezone.utc) for name in ("issued", "expires")]
    issued, expires = (stamp.strftime("%Y-%m-%dT%H:%M:%SZ") for stamp in stamps)
    return "\n".join(
        [
            "Tocsin: register device",
            f"server: {claim['server']}",
            f"user: {claim['user']}",
            f"platform: {claim['platform']}",
            f"token-sha256: {hashlib.sha256(claim['token'].encode()).hexdigest()}",
            line,
            f"nonce: {claim['nonce']}",
            f"issued: {issued}",
            f"expires: {expires}",
        ]
    ).encode()


def typed(claim, wallet):
    kind = (
        b"RegisterDevice(string server,string user,string platform,bytes32 tokenHash,address wallet,string nonce,"
        b"uint64 issued,uint64 expires)"
    )
    domain = keccak(keccak(b"EIP712Domain(string name,string version)") + keccak(b"Tocsin") + keccak(b"1"))
    words = [keccak(kind)] + [keccak(claim[name].encode()) for name in ("server", "user", "platform")]
    words += [hashlib.sha256(claim["token"].encode()).digest(), bytes(12) + bytes.fromhex(wallet[2:])]
    words += [keccak(claim["nonce"].encode())] + [claim[name].to_bytes(32, "big") for name in ("issued", "expires")]
    return keccak(b"\x19\x01" + domain + keccak(b"".join(words)))


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def raw(signature, lower):
    r, s = decode_dss_signature(signature)
    if lower and s > ORDER // 2:
        s = ORDER - s
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def signed(scheme, claim, chance):
    if scheme == "ED25519":
        key = ed25519.Ed25519PrivateKey.from_private_bytes(chance.randbytes(32))
        name = url64(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        return name, url64(key.sign(text(claim, "key: " + name)))
    curve = ec.SECP256R1() if scheme == "P256" else ec.SECP256K1()
    key = ec.derive_private_key(chance.randrange(1, 1 << 255), curve)
    if scheme == "P256":
        name = url64(key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
        return name, url64(raw(key.sign(text(claim, "key: " + name), ec.ECDSA(hashes.SHA256())), lower=False))
    name = address(key.public_key())
    if scheme == "EIP712":
        digest = typed(claim, name)
    else:
        message = text(claim, "address: " + name)
        digest = keccak(b"\x19Ethereum Signed Message:\n" + str(len(message)).encode() + message)
    return name, "0x" + raw(key.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()))), lower=True).hex()


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    chance = random.Random(seed)
    for number in range(count):
        issued = chance.randrange(1_700_000_000, 4_000_000_000)
        claim = {
            "server": chance.choice(["push.example.com", "localhost:8080", "[::1]:443", "xn--bcher-kva.example"]),
            "user": chance.choice(["01a2083d-1db6-72d0-9836-ed216da03b7d", "auth0|5f7c8ec7", "Zoë Ōta"]),
            "platform": chance.choice(["ios", "android", "web"]),
            "token": chance.randbytes(chance.randrange(1, 90)).hex(),
            "nonce": url64(chance.randbytes(chance.randrange(1, 60))),
            "issued": issued,
            "expires": issued + 300,
        }
        scheme = ["EIP191", "EIP712", "ED25519", "P256"][number % 4]
        name, signature = signed(scheme, claim, chance)
        print(json.dumps(claim | {"scheme": scheme, "address": name, "signature": signature}, ensure_ascii=False))


main()
