/// Checks of client input that no schema can state.
package struct InputChecks: Sendable {
    /// The limits that inputs are held to.
    package let limits: ServiceLimits

    /// Checks against these limits.
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

    /// An id that a client chooses for a topic, a message or a schedule.
    func checkChosenID(_ id: String, field: String) throws(ServiceError) {
        guard limits.clientIDs.accepts(id) else {
            throw .badInput(
                "\(field) must be a UUID or a ULID, which nobody else can take. Leave it out and the server makes one; to "
                    + "make the repeat of a message safe, give it a key of your own instead."
            )
        }
        try checkID(id, field: field)
    }

    /// Whether a text may be an id that the server or a client has given.
    ///
    /// All ids are ASCII, where no two spellings are equal.
    static func mayBeID(_ text: String) -> Bool { TextScan.isASCII(text) }

    /// At most this many bytes of UTF-8, without NUL.
    package func checkText(_ text: String, field: String, maximumBytes: Int) throws(ServiceError) {
        let count = text.utf8.count
        guard count <= maximumBytes else {
            throw .badRequest("\(field) has \(count) bytes; at most \(maximumBytes) are allowed.")
        }
        guard !TextScan.hasNUL(text) else {
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
    package func check(_ input: RecordInput, of model: ModelType) throws(ServiceError) {
        do throws(ServiceError) {
            for index in 0..<input.count { try checkText(at: index, in: input, of: model) }
        } catch {
            // Whatever the order in which faults were found, the first by name is told.
            for index in (0..<input.count).sorted(by: { input.name(at: $0) < input.name(at: $1) }) {
                try checkText(at: index, in: input, of: model)
            }
        }
        guard model.name == "Message" else { return }
        if case .text("")? = input.value(ofFieldAt: model.knownPositions.key, in: model) {
            throw .badRequest("key must not be empty; leave it out instead.")
        }
        let priority = input.value(ofFieldAt: model.knownPositions.priority, in: model)?.int
        if let priority, !(1...5).contains(priority) {
            throw .badInput("priority must be 1 (min) to 5 (critical); it is \(priority).")
        }
    }

    private func checkText(at index: Int, in input: RecordInput, of model: ModelType) throws(ServiceError) {
        let text: String
        switch input.value(at: index) {
        case .text(let value), .json(let value): text = value
        case .null, .bool, .int, .double: return
        }
        let name = input.name(at: index)
        switch input.position(at: index, in: model).map({ model.textLimits[$0] }) ?? .other {
        case .id: try checkID(text, field: name)
        case .chosenID: try checkChosenID(text, field: name)
        case .topicName: try checkText(text, field: name, maximumBytes: limits.topicNameBytes)
        case .title: try checkText(text, field: name, maximumBytes: limits.titleBytes)
        case .body: try checkText(text, field: name, maximumBytes: limits.bodyBytes)
        case .key: try checkText(text, field: name, maximumBytes: limits.keyBytes)
        case .other: try checkText(text, field: name, maximumBytes: limits.textBytes)
        }
    }
}

/// Which limit the texts of a field have.
enum TextLimit: Sendable {
    case id, chosenID, topicName, title, body, key, other

    init(of field: String, in model: String) {
        switch (model, field) {
        case ("Topic", "id"), ("Message", "id"): self = .chosenID
        case (_, "id"): self = .id
        case ("Topic", "name"): self = .topicName
        case ("Message", "title"): self = .title
        case ("Message", "body"): self = .body
        case ("Message", "key"), ("Message", "category"), ("Message", "topicId"), ("Message", ModelType.typeName):
            self = .key
        default: self = .other
        }
    }
}

/// Keys of a message's `data` that cannot reach every phone.
package enum PushDataKeys {
    /// Whether Firebase keeps a key for itself: `from`, `message_type`, and all that begin with
    /// `google.` or `gcm`.
    ///
    /// FCM refuses the whole message because of one such key (Firebase: REST Resource
    /// projects.messages, `data`).
    package static func isReserved(_ key: String) -> Bool {
        // By bytes, as Firebase looks at keys: a sign may combine with the last letter.
        key.isEmpty || key == "from" || key == "message_type" || key.utf8.starts(with: "google.".utf8)
            || key.utf8.starts(with: "gcm".utf8)
    }
}
