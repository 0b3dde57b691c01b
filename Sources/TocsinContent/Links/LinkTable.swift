/// Finds the view of an app that a push or a link leads to.
///
/// ```swift
/// let links = LinkTable<Route>(
///     [.path("/posts/{id}", Route.post), .path("/stats", Route.leaderboard)],
///     types: ["leader": .leaderboard, "generic": .home],
///     hosts: ["pong.college"]
/// )
/// links.route(type: "upvote", url: "https://pong.college/posts/7")  // .post("7")
/// ```
public struct LinkTable<Route: Sendable>: Sendable {
    /// A form of paths, and the view it means.
    public struct Entry: Sendable {
        fileprivate let segments: [String]
        fileprivate let make: @Sendable ([String]) -> Route?

        /// A path without gaps.
        public static func path(_ pattern: String, _ route: Route) -> Entry {
            Entry(segments: LinkTable.segments(pattern)) { _ in route }
        }

        /// A path with one gap, such as `/posts/{id}`.
        public static func path(_ pattern: String, _ make: @escaping @Sendable (String) -> Route) -> Entry {
            Entry(segments: LinkTable.segments(pattern)) { values in values.first.map(make) }
        }

        /// A path with several gaps, whose values come in order; `nil` when it is no view.
        public static func path(_ pattern: String, gaps make: @escaping @Sendable ([String]) -> Route?) -> Entry {
            Entry(segments: LinkTable.segments(pattern), make: make)
        }
    }

    private let entries: [Entry]
    private let types: [String: Route]
    private let hosts: LinkGuard

    /// A table of these paths.
    ///
    /// - Parameters:
    ///   - entries: The first that fits counts.
    ///   - types: Views by the message's type, for pushes without a link; `generic` stands for
    ///     types that are not listed.
    ///   - hosts: Whose links are the app's own; as `LinkGuard` takes them.
    public init(_ entries: [Entry], types: [String: Route] = [:], hosts: [String] = []) {
        self.entries = entries
        self.types = types
        self.hosts = LinkGuard(allowed: hosts)
    }

    /// The view that a message leads to; `nil` when there is none, or the link is foreign.
    ///
    /// A link is a path such as `/posts/7`, or https at one of the hosts. A link of the app's own
    /// that no path fits is treated as none.
    public func route(type: String?, url: String?) -> Route? {
        if let url, !url.isEmpty {
            guard let path = path(of: url) else { return nil }
            if let route = route(path: path) { return route }
        }
        guard let type else { return nil }
        return types[type] ?? types["generic"]
    }

    /// The view that a push leads to.
    public func route(for push: PushContent) -> Route? { route(type: push.type, url: push.url) }

    private func path(of url: String) -> String? {
        if url.hasPrefix("/"), !url.hasPrefix("//") {
            guard url.utf8.count <= 8192, LinkAddress.isPlain(url) else { return nil }
            return String(url.prefix { $0 != "?" && $0 != "#" })
        }
        guard let address = LinkAddress(url), hosts.allows(host: address.host) else { return nil }
        return address.path
    }

    private func route(path: String) -> Route? {
        let segments = Self.segments(path)
        for entry in entries where entry.segments.count == segments.count {
            guard let values = Self.match(entry.segments, segments), let route = entry.make(values) else { continue }
            return route
        }
        return nil
    }

    private static func segments(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init)
    }

    private static func match(_ pattern: [String], _ segments: [String]) -> [String]? {
        var values: [String] = []
        for (pattern, segment) in zip(pattern, segments) {
            guard let decoded = PercentEncoding.decode(segment) else { return nil }
            if pattern.hasPrefix("{"), pattern.hasSuffix("}") {
                values.append(decoded)
            } else if pattern != decoded {
                return nil
            }
        }
        return values
    }
}

/// Percent signs in paths (RFC 3986 §2.1).
enum PercentEncoding {
    /// The segment's text; `nil` when it is no UTF-8, or has a slash or a control character in it.
    static func decode(_ segment: String) -> String? {
        var bytes: [UInt8] = []
        var rest = ArraySlice(segment.utf8)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        let text = String(decoding: bytes, as: UTF8.self)
        return isPlain && Array(text.utf8) == bytes ? text : nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
