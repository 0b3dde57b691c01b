import NIOCore
import NIOPosix

/// Looks names up as the system does, and leaves out addresses that are not of the public internet.
///
/// The look-up whose answer is connected to is the one that is checked, so that a name cannot
/// lead elsewhere afterwards.
final class PublicAddressResolver: Resolver, Sendable {
    /// A name has addresses, and all of them are private.
    struct NoPublicAddress: Error {}

    private let system: NIORandomizedDNSResolver

    init(loop: any EventLoop) {
        system = NIORandomizedDNSResolver(loop: loop)
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        system.initiateAQuery(host: host, port: port).flatMapThrowing(Self.publicOnes)
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        system.initiateAAAAQuery(host: host, port: port).flatMapThrowing(Self.publicOnes)
    }

    func cancelQueries() { system.cancelQueries() }

    @Sendable
    private static func publicOnes(_ addresses: [SocketAddress]) throws -> [SocketAddress] {
        let chosen = addresses.filter(PublicAddress.isOne)
        guard chosen.isEmpty, !addresses.isEmpty else { return chosen }
        throw NoPublicAddress()
    }
}

/// Tells addresses of the public internet from those for special use (IANA's registries, RFC 6890).
package enum PublicAddress {
    static func isOne(_ address: SocketAddress) -> Bool {
        switch address {
        // After family and port, and with version 6 the flow's label (ip(7), ipv6(7)).
        case .v4: isPublic(v4: bytes(of: address, from: 4, count: 4))
        case .v6: isPublic(v6: bytes(of: address, from: 8, count: 16))
        case .unixDomainSocket: false
        }
    }

    private static func bytes(of address: SocketAddress, from start: Int, count: Int) -> [UInt8] {
        address.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1).dropFirst(start).prefix(count)) }
    }

    /// Four bytes, as they stand in the address.
    package static func isPublic(v4 bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): return false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): return false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): return false
        default: return true
        }
    }

    /// Sixteen bytes: of those given out for use (2000::/3) all but tunnels and examples,
    /// and what NAT64 translates.
    package static func isPublic(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return isPublic(v4: Array(bytes[12...]))
        }
        switch (bytes[0], bytes[1]) {
        case (0x20, 0x01): return bytes[2] >= 2 && !(bytes[2] == 0x0D && bytes[3] == 0xB8)
        case (0x20, 0x02): return false
        default: return bytes[0] & 0xE0 == 0x20
        }
    }
}
