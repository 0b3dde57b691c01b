/// Checks of client input that no schema can state.
package struct InputChecks: Sendable {
    package let limits: ServiceLimits

    package init(limits: ServiceLimits) {
        self.limits = limits
    }

    /// 1 to 64 of `[A-Za-z0-9_-]`.
    package func checkID(_ id: String, field: String) throws(ServiceError) {
        let isAllowed = id.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_")
        }
        guard isAllowed, !id.isEmpty, id.utf8.count <= limits.idCharacters else {
            throw .badRequest("\(field) must be 1 to \(limits.idCharacters) characters of A-Z, a-z, 0-9, '-' and '_'.")
        }
    }

    /// Whether a text may be an id that the server or a client has given: all of these are ASCII, of which no two spellings
    /// are equal.
    static func mayBeID(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    /// At most this many bytes of UTF-8, without NUL.
    package func checkText(_ text: String, field: String, maximumBytes: Int) throws(ServiceError) {
        let count = text.utf8.count
        guard count <= maximumBytes else {
            throw .badRequest("\(field) has \(count) bytes; at most \(maximumBytes) are allowed.")
        }
        // A text of one piece is searched where it lies, not byte by byte through the string.
        let hasNUL = text.utf8.withContiguousStorageIfAvailable { $0.contains(0) }
        guard !(hasNUL ?? text.utf8.contains(0)) else {
            throw .badRequest("\(field) contains a NUL character, which is not allowed.")
        }
    }

    /// The size of a page: the default when absent, at most the maximum; 0 and less are refused.
    package func pageSize(_ limit: Int?) throws(ServiceError) -> Int {
        guard let limit else { return limits.defaultPage }
        guard limit > 0 else { throw .badRequest("limit must be at least 1; it is \(limit).", .pageSize) }
        return min(limit, limits.maximumPage)
    }

    /// Checks every text of a record against the limits for its field.
    package func check(_ values: [String: FieldValue], of model: ModelType) throws(ServiceError) {
        do throws(ServiceError) {
            for (name, value) in values { try checkText(of: value, field: name, of: model) }
        } catch {
            // Of several faults the first by name is told, whatever the order in which they were found.
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                try checkText(of: value, field: name, of: model)
            }
        }
        guard model.name == "Message" else { return }
        if values["key"] == .text("") { throw .badRequest("key must not be empty; leave it out instead.") }
        if let priority = values["priority"]?.int, !(1...5).contains(priority) {
            throw .badRequest("priority must be 1 (min) to 5 (critical); it is \(priority).")
        }
    }

    private func checkText(of value: FieldValue, field name: String, of model: ModelType) throws(ServiceError) {
        let text: String
        switch value {
        case .text(let value), .json(let value): text = value
        case .null, .bool, .int, .double: return
        }
        if name == "id" {
            try checkID(text, field: name)
        } else {
            try checkText(text, field: name, maximumBytes: maximumBytes(of: name, in: model))
        }
    }

    private func maximumBytes(of field: String, in model: ModelType) -> Int {
        switch (model.name, field) {
        case ("Topic", "name"): limits.topicNameBytes
        case ("Message", "title"): limits.titleBytes
        case ("Message", "body"): limits.bodyBytes
        case ("Message", "key"), ("Message", "category"), ("Message", "topicId"): limits.keyBytes
        default: limits.textBytes
        }
    }
}
