import Glibc

/// An IP address as a number of 128 bits; IPv4 stands in it as `::ffff:a.b.c.d`
/// does (RFC 4291 §2.5.5.2).
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF << 32

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The address of this text, without brackets, port or zone; `nil` when it is none.
    package init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: four.s_addr)))
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let (high, low) = withUnsafeBytes(of: six) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        self.init(high: high, low: low)
    }

    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// What is counted as one client: an IPv4 address, or the 64 bits of an IPv6 network
    /// that one customer is given.
    var client: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }

    /// The address as people write it.
    package var description: String {
        var (four, six) = (in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian), in6_addr())
        withUnsafeMutableBytes(of: &six) { bytes in
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let length = socklen_t(INET6_ADDRSTRLEN)
            let written =
                isIPv4
                ? inet_ntop(AF_INET, &four, text.baseAddress, length)
                : inet_ntop(AF_INET6, &six, text.baseAddress, length)
            return written.map { String(cString: $0) } ?? "::"
        }
    }
}

/// All addresses that begin with the same bits: `10.0.0.0/8`, or one address.
package struct AddressNetwork: Sendable, Hashable, CustomStringConvertible {
    private let first: IPAddress
    private let bits: Int

    /// The network of this text; `nil` when it is none.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        let most = address.isIPv4 ? 32 : 128
        guard parts.count == 2 else {
            self.init(address, bits: 128)
            return
        }
        guard let length = Int(parts[1]), (0...most).contains(length), parts[1].allSatisfy(\.isNumber) else {
            return nil
        }
        self.init(address, bits: 128 - most + length)
    }

    private init(_ address: IPAddress, bits: Int) {
        self.bits = bits
        first = Self.masked(address, bits)
    }

    /// Whether the address is one of these.
    package func contains(_ address: IPAddress) -> Bool { Self.masked(address, bits) == first }

    /// The network as it is written in settings.
    package var description: String {
        if bits == 128 { return "\(first)" }
        return "\(first)/\(first.isIPv4 ? bits - 96 : bits)"
    }

    private static func masked(_ address: IPAddress, _ bits: Int) -> IPAddress {
        IPAddress(
            high: address.high & ~(bits >= 64 ? 0 : UInt64.max >> UInt64(bits)),
            low: address.low & ~(bits >= 128 ? 0 : bits <= 64 ? UInt64.max : UInt64.max >> UInt64(bits - 64))
        )
    }
}
