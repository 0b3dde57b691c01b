import Glibc

/// An IP address as a number of 128 bits; IPv4 stands in it as `::ffff:a.b.c.d`
/// does (RFC 4291 §2.5.5.2).
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF << 32

    private init(high: UInt64, low: UInt64) {
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

    /// Whether it stands for an IPv4 address, however it was written.
    package var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// What is counted as one client: an IPv4 address, or the 64 bits of an IPv6 network
    /// that one customer is given.
    package var client: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }

    /// The network that people know as somebody's: 24 bits of an IPv4 address, 48 of an IPv6 one.
    package var surroundings: AddressNetwork { AddressNetwork(self, bits: isIPv4 ? 96 + 24 : 48) }

    /// The address with nothing behind its first bits.
    fileprivate func masked(_ bits: Int) -> IPAddress {
        IPAddress(
            high: high & ~(bits >= 64 ? 0 : UInt64.max >> UInt64(bits)),
            low: low & ~(bits >= 128 ? 0 : bits <= 64 ? UInt64.max : UInt64.max >> UInt64(bits - 64))
        )
    }

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
    /// Bits of 128, also where the network is one of IPv4.
    private let bits: Int

    /// The network of this text; `nil` when it is none.
    ///
    /// An IPv4 network in the form of IPv6 is written with the bits of IPv6: `::ffff:10.0.0.0/104`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        guard parts.count == 2 else {
            self.init(address, bits: 128)
            return
        }
        let isMapped = address.isIPv4 && parts[0].contains(":")
        let range = isMapped ? 96...128 : 0...(address.isIPv4 ? 32 : 128)
        guard let length = Int(parts[1]), range.contains(length), parts[1].allSatisfy(\.isNumber) else { return nil }
        self.init(address, bits: address.isIPv4 && !isMapped ? 96 + length : length)
    }

    fileprivate init(_ address: IPAddress, bits: Int) {
        self.bits = bits
        first = address.masked(bits)
    }

    /// Whether the address is one of these; a network of IPv6 has no address of IPv4.
    package func contains(_ address: IPAddress) -> Bool {
        address.masked(bits) == first && address.isIPv4 == isIPv4
    }

    /// Whether all addresses of the other network are in this one.
    package func contains(_ other: AddressNetwork) -> Bool {
        bits <= other.bits && other.first.masked(bits) == first && other.isIPv4 == isIPv4
    }

    /// The network as it is written in settings.
    package var description: String {
        if bits == 128 { return "\(first)" }
        return "\(first)/\(isIPv4 ? bits - 96 : bits)"
    }

    private var isIPv4: Bool { bits >= 96 && first.isIPv4 }
}
