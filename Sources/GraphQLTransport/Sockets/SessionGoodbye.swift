import JSON

/// What clients are told when a connection ends for a reason that no protocol has words for.
enum SessionGoodbye {
    /// The reason of the close when more waits to be read than may.
    static let tooSlow = "Too much is waiting to be read; come again and resume"
    /// The reason of the close when a connection has lived as long as one may.
    static let lifetime = "This connection has lived its time; come again and resume"

    /// The errors of an operation whose client does not read, with the place to go on from: a JSON array.
    static func overflow(lastCursor: String?) -> [UInt8] {
        var extensions: JSONObject = ["code": .string(ErrorCode.unavailable.rawValue)]
        if let lastCursor { extensions["cursor"] = .string(lastCursor) }
        let error: JSONObject = [
            "message": .string("Too much is waiting to be read. Subscribe again after the last cursor."),
            "extensions": .object(extensions),
        ]
        return JSONValue.array([.object(error)]).serialized()
    }
}
