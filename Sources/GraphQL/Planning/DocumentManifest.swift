public import JSON

/// A list of documents as the tools that build clients write it.
///
/// Read are Apollo's persisted query manifest (`{"format":
/// "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body", "name",
/// "type"}]}`) and Relay's (an object of texts by hash).
public struct DocumentManifest: Sendable, Hashable {
    /// One document.
    public struct Entry: Sendable, Hashable {
        /// What clients call it.
        public let identifier: String
        /// Its text.
        public let text: String
    }

    /// The documents in the manifest's order.
    public let entries: [Entry]

    /// Reads a manifest of either kind.
    public init(
        json bytes: [UInt8],
        limits: JSONLimits = JSONLimits(maximumBytes: 64_000_000, maximumValues: 1_000_000)
    ) throws(DocumentManifestError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(bytes, limits: limits)
        } catch {
            throw DocumentManifestError(message: "it is not JSON: \(error)")
        }
        guard case .object(let object) = value else {
            throw DocumentManifestError(message: "it is no JSON object. \(Self.shapes)")
        }
        if let format = object["format"], format.stringValue != nil || object["operations"] != nil {
            entries = try Self.apollo(object, format: format)
        } else {
            entries = try Self.relay(object)
        }
    }

    private static let shapes =
        "Give Apollo's manifest (format, version, operations) or Relay's (an object of texts by hash)."

    private static func apollo(_ object: JSONObject, format: JSONValue) throws(DocumentManifestError) -> [Entry] {
        guard format == "apollo-persisted-query-manifest", object["version"] == 1 else {
            let version = object["version"]?.serializedString() ?? "none"
            throw DocumentManifestError(
                message: "its format is \(format.serializedString()), version \(version); only "
                    + "\"apollo-persisted-query-manifest\", version 1, is read"
            )
        }
        guard case .array(let operations)? = object["operations"] else {
            throw DocumentManifestError(message: "its \"operations\" are no list")
        }
        var entries: [Entry] = []
        for (index, operation) in operations.enumerated() {
            guard let id = operation["id"]?.stringValue, let body = operation["body"]?.stringValue else {
                throw DocumentManifestError(message: "its operation \(index + 1) has no texts \"id\" and \"body\"")
            }
            entries.append(Entry(identifier: id, text: body))
        }
        return entries
    }

    private static func relay(_ object: JSONObject) throws(DocumentManifestError) -> [Entry] {
        var entries: [Entry] = []
        for member in object {
            guard case .string(let text) = member.value else {
                throw DocumentManifestError(message: "its member \"\(member.key)\" is no text. \(shapes)")
            }
            entries.append(Entry(identifier: member.key, text: text))
        }
        return entries
    }
}

/// Why a manifest cannot be read, as the end of a sentence about it.
public struct DocumentManifestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let message: String

    /// The message.
    public var description: String { message }
}
