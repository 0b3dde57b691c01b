/// Reads one JSON text, strictly as RFC 8259 says: UTF-8 without a byte order mark, no comments, no
/// trailing commas, no lone surrogates, nothing after the value.
public struct JSONParser {
    private init() {}

    /// The value written in `bytes`.
    public static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        limits: JSONLimits = .standard
    ) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.maximumBytes else {
            throw JSONError(
                "The JSON text has \(bytes.count) bytes; at most \(limits.maximumBytes) are accepted",
                at: 0,
                in: bytes
            )
        }
        var reader = JSONReader(bytes: bytes, limits: limits)
        return try reader.readText()
    }

    /// The value written in `bytes`.
    public static func parse(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> JSONValue in
            try parse(buffer, limits: limits)
        }
    }

    /// The value written in any collection of bytes; those that are not
    /// contiguous are copied first.
    public static func parse(
        _ bytes: some Collection<UInt8>,
        limits: JSONLimits = .standard
    ) throws(JSONError) -> JSONValue {
        let outcome = bytes.withContiguousStorageIfAvailable { buffer -> Result<JSONValue, JSONError> in
            Result { () throws(JSONError) -> JSONValue in try parse(buffer, limits: limits) }
        }
        if let outcome { return try outcome.get() }
        return try parse(Array(bytes), limits: limits)
    }

    /// The value written in `text`.
    public static func parse(_ text: String, limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
        try parse(text.utf8, limits: limits)
    }
}
