/// Where a request came from: what the audit keeps of it, and never more of an address.
package struct RequestOrigin: Sendable, Hashable {
    /// The client's whole address, for limits alone; the audit keeps the network.
    let address: String?
    /// The request's id, as in the log; nil where it has none.
    package let requestID: String?
    /// By what way it came, as far as it shows.
    package var way: IncidentVia
    /// The device that the client says it is; only one of the caller's own counts.
    package var deviceID: DeviceID?

    /// An origin of these parts.
    package init(address: String?, requestID: String? = nil, way: IncidentVia = .api) {
        self.address = address
        self.requestID = requestID
        self.way = way
    }

    /// The client's network (`AuditNetwork`); nil where it is not known.
    package var network: String? { address.flatMap(AuditNetwork.network) }

    /// What limits count as one place: the address, or the first 64 bits of one of IPv6.
    package var shareKey: String? { address.flatMap(SignInBrakes.network) }

    /// Where the request came from that the present task serves; nil for the server's own work and
    /// for commands beside it.
    ///
    /// The store takes it along with each write, so that services need not pass it on. Errors and
    /// the log name the request by it.
    @TaskLocal package static var current: RequestOrigin?
}

/// The part of an address that is kept: 24 bits of IPv4, 48 of IPv6.
package enum AuditNetwork {
    /// The network of an address as people write it: `192.0.2.0/24`, `2001:db8:1::/48`; nil for
    /// what is no address.
    package static func network(of address: String) -> String? {
        guard address.utf8.count <= 64 else { return nil }
        let text = address.lowercased()
        if let four = four(text) { return four }
        if text.hasPrefix("::ffff:"), let four = four(String(text.dropFirst(7))) { return four }
        return six(text)
    }

    private static func four(_ text: String) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let numbers = parts.compactMap { UInt8($0) }
        guard numbers.count == 4 else { return nil }
        return numbers.prefix(3).map { "\($0)" }.joined(separator: ".") + ".0/24"
    }

    /// The first three groups of eight; `::` stands for as many zeros as are missing.
    private static func six(_ text: String) -> String? {
        guard text.contains(":") else { return nil }
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count <= 9 else { return nil }
        var first: [UInt16] = []
        for group in groups.prefix(3) {
            // What begins with `::`, or has it among these, goes on with zeros.
            guard !group.isEmpty else { break }
            guard group.utf8.count <= 4, let number = UInt16(group, radix: 16) else { return nil }
            first.append(number)
        }
        while first.last == 0 { first.removeLast() }
        return first.map { String($0, radix: 16) }.joined(separator: ":") + "::/48"
    }
}
