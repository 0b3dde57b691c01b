import JSON

/// One push as a fake provider saw it.
struct PushRecord: Sendable {
    let provider: SimulatedProvider
    let connection: Int
    let path: String
    let headers: [(name: String, value: String)]
    let bytes: Int
    /// The `apns-id`, or FCM's message name.
    var providerID: String
    var sequence = 0
    var timeMilliseconds: Int64 = 0
    var token = ""
    var payload: JSONValue = .null
    private(set) var isAccepted = false
    /// 0 when no answer was given.
    private(set) var status = 0
    private(set) var reason: String?
    private(set) var detail: String?
    /// What makes a phone show one push in place of another: collapse id or tag.
    var replaceKey: String?
    /// The sender's own id of the delivery.
    var deliveryKey: String?

    init(_ provider: SimulatedProvider, connection: Int, request: WireRequest, providerID: String) {
        self.provider = provider
        self.connection = connection
        self.providerID = providerID
        path = request.path
        bytes = request.bodyBytes
        headers = request.headers.filter { $0.name != "authorization" }
    }

    mutating func accept(status: Int) {
        isAccepted = true
        self.status = status
    }

    mutating func refuse(status: Int, reason: String, detail: String) {
        self.status = status
        self.reason = reason
        self.detail = detail
    }

    var json: JSONValue {
        var lines = JSONObject()
        for header in headers { lines[header.name] = .string(header.value) }
        return [
            "sequence": .int(Int64(sequence)),
            "time": .int(timeMilliseconds),
            "provider": .string(provider.rawValue),
            "connection": .int(Int64(connection)),
            "path": .string(path),
            "token": .string(token),
            "headers": .object(lines),
            "payload": payload,
            "bytes": .int(Int64(bytes)),
            "accepted": .bool(isAccepted),
            "status": .int(Int64(status)),
            "reason": reason.map(JSONValue.string) ?? .null,
            "detail": detail.map(JSONValue.string) ?? .null,
            "id": .string(providerID),
        ]
    }

    /// For people: tokens are cut short.
    var line: String {
        let outcome = isAccepted ? "\(status)" : "\(status) \(reason ?? "")"
        let why = detail.map { " (\($0))" } ?? ""
        return "\(provider.rawValue) \(outcome) \(token.prefix(8))… \(bytes) bytes, connection \(connection)\(why)"
    }
}
