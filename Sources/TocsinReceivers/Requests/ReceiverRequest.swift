package import TocsinCore

/// One request of a sender, whole, as every receiver reads it.
package struct ReceiverRequest: Sendable, Equatable {
    /// A name with its value: of a header, of a query, of a form.
    package struct Item: Sendable, Equatable {
        /// The name as it was written.
        package var name: String
        /// The value, decoded.
        package var value: String

        /// An item of these parts.
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// The method in capitals.
    package let method: String
    /// The path as it was sent: `/in/KEY/more`.
    package let path: String
    /// The path's segments, each decoded after the path was split.
    package let segments: [String]
    /// The query in order, decoded.
    package let query: [Item]
    /// The headers in order, names in any case.
    package let headers: [Item]
    /// The body, unpacked.
    package let body: [UInt8]
    /// When it came.
    package let receivedAt: Timestamp

    /// More items of a query or a form are not read.
    package static let maximumItems = 1000

    /// A request to a path with its query (`/in/KEY?action=log`).
    package init(method: String, target: String, headers: [Item], body: [UInt8], receivedAt: Timestamp) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        (self.method, self.headers, self.body, self.receivedAt) = (method.uppercased(), headers, body, receivedAt)
        path = parts.first.map(String.init) ?? ""
        segments = path.split(separator: "/").map { QueryText.decoded($0, plusIsSpace: false) }
        query = parts.count > 1 ? QueryText.items(parts[1].utf8) : []
    }

    /// The first header of this name that is not empty, without space around it.
    package func header(_ name: String) -> String? {
        for item in headers where item.name.utf8.count == name.utf8.count && item.name.lowercased() == name.lowercased()
        {
            let value = item.value.trimmed
            if !value.isEmpty { return value }
        }
        return nil
    }

    /// The first value of this name in the query that is not empty.
    package func queryValue(_ name: String) -> String? {
        query.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The media type of the body in small letters, without parameters; empty when none is named.
    package var mediaType: String {
        let value = header("Content-Type") ?? ""
        return (value.split(separator: ";", maxSplits: 1).first.map { String($0).trimmed } ?? "").lowercased()
    }

    /// The segments behind the key or the kind's name: of `/in/KEY/a/b` it is `a`, `b`.
    package var rest: [String] {
        guard segments.first == "in" else { return segments }
        return Array(segments.dropFirst(segments.count > 1 && segments[1] == "to" ? 4 : 2))
    }
}
