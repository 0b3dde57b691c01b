/// Keccak-256 as Ethereum has it: SHA-3's permutation with the padding of the submission, which no
/// library of the system offers.
package enum Keccak256 {
    /// Bytes taken in by one permutation.
    private static let rate = 136

    /// 32 bytes.
    package static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [1]
        padded += [UInt8](repeating: 0, count: (rate - padded.count % rate) % rate)
        padded[padded.count - 1] |= 0x80
        var lanes = [UInt64](repeating: 0, count: 25)
        for block in stride(from: 0, to: padded.count, by: rate) {
            for index in 0..<rate {
                lanes[index / 8] ^= UInt64(padded[block + index]) << UInt64(8 * (index % 8))
            }
            permute(&lanes)
        }
        return (0..<32).map { UInt8(truncatingIfNeeded: lanes[$0 / 8] >> UInt64(8 * ($0 % 8))) }
    }

    /// Keccak-f[1600]: the steps θ, ρ and π, χ, ι, 24 times (FIPS 202 §3.2).
    ///
    /// Pointers, not arrays: tests make a million of these permutations unoptimized.
    private static func permute(_ lanes: inout [UInt64]) {
        lanes.withUnsafeMutableBufferPointer { buffer in
            guard let lanes = buffer.baseAddress else { return }
            for constant in roundConstants {
                mixColumns(lanes)
                moveLanes(lanes)
                mixRows(lanes)
                lanes[0] ^= constant
            }
        }
    }

    /// θ: each lane takes in two neighbouring columns.
    private static func mixColumns(_ lanes: UnsafeMutablePointer<UInt64>) {
        let (a, b, c) = (column(0, lanes), column(1, lanes), column(2, lanes))
        let (d, e) = (column(3, lanes), column(4, lanes))
        mix(e ^ rotated(b, 1), into: 0, lanes)
        mix(a ^ rotated(c, 1), into: 1, lanes)
        mix(b ^ rotated(d, 1), into: 2, lanes)
        mix(c ^ rotated(e, 1), into: 3, lanes)
        mix(d ^ rotated(a, 1), into: 4, lanes)
    }

    private static func column(_ x: Int, _ lanes: UnsafeMutablePointer<UInt64>) -> UInt64 {
        lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
    }

    private static func mix(_ bits: UInt64, into x: Int, _ lanes: UnsafeMutablePointer<UInt64>) {
        lanes[x] ^= bits
        lanes[x + 5] ^= bits
        lanes[x + 10] ^= bits
        lanes[x + 15] ^= bits
        lanes[x + 20] ^= bits
    }

    /// ρ and π: each lane is rotated and takes the place of another, in one walk.
    private static func moveLanes(_ lanes: UnsafeMutablePointer<UInt64>) {
        var moving = lanes[1]
        for step in walk {
            let next = lanes[step.place]
            lanes[step.place] = rotated(moving, step.count)
            moving = next
        }
    }

    /// The places that the walk visits, and how far it rotates what it brings there.
    private static let walk: [(place: Int, count: UInt64)] = {
        var (x, y) = (1, 0)
        return (0..<24).map { step in
            (x, y) = (y, (2 * x + 3 * y) % 5)
            return (x + 5 * y, UInt64((step + 1) * (step + 2) / 2 % 64))
        }
    }()

    /// χ: the only step that is not linear.
    private static func mixRows(_ lanes: UnsafeMutablePointer<UInt64>) {
        var row = lanes
        for _ in 0..<5 {
            let (a, b, c, d, e) = (row[0], row[1], row[2], row[3], row[4])
            row[0] = a ^ ~b & c
            row[1] = b ^ ~c & d
            row[2] = c ^ ~d & e
            row[3] = d ^ ~e & a
            row[4] = e ^ ~a & b
            row += 5
        }
    }

    /// Rotates to the left by 1 to 63.
    private static func rotated(_ lane: UInt64, _ count: UInt64) -> UInt64 {
        lane &<< count | lane &>> (64 &- count)
    }

    private static let roundConstants: [UInt64] = [
        0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808A, 0x8000_0000_8000_8000,
        0x0000_0000_0000_808B, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
        0x0000_0000_0000_008A, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000A,
        0x0000_0000_8000_808B, 0x8000_0000_0000_008B, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
        0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800A, 0x8000_0000_8000_000A,
        0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
    ]
}
