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
    /// Read again when somebody asks.
    var body: [UInt8]
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
        headers = request.headers
        body = request.body
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

    mutating func meet(_ fault: WireFault) {
        if fault.accepts {
            accept(status: 200)
        } else {
            refuse(status: 0, reason: fault.name, detail: "scripted")
        }
    }

    var json: JSONValue {
        var lines = JSONObject()
        for header in headers where header.name != "authorization" { lines[header.name] = .string(header.value) }
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

    /// The payload as it was sent; null when it is not JSON.
    private var payload: JSONValue { (try? JSONParser.parse(body)) ?? .null }
}
