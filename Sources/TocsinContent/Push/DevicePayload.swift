public import JSON

/// A message as a wallet app's table on the device keeps it: fourteen facts under their names.
public struct DevicePayload: Sendable, Hashable {
    /// The row's number on the device (`nid`).
    public var rowID: Int64
    /// What came with the push; the thirteen other facts.
    public var payload: EPNSPayload

    /// The columns in the order of the table.
    public static let columns = [
        "nid", "sid", "type", "app", "icon", "url", "appbot", "secret", "asub", "amsg", "acta", "aimg", "hidden",
        "epoch",
    ]

    /// A row of this number.
    public init(rowID: Int64, payload: EPNSPayload) {
        self.rowID = rowID
        self.payload = payload
    }

    /// The row by its columns, in their order; a fact that is missing is `null`.
    public var row: JSONObject {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        let type: JSONValue =
            switch payload.kind {
            case .plain: 1
            case .secret: 2
            case .other(let word): text(word)
            }
        return [
            "nid": .int(rowID), "sid": text(payload.id), "type": type, "app": text(payload.app),
            "icon": text(payload.icon), "url": text(payload.url), "appbot": .int(payload.isFromBot ? 1 : 0),
            "secret": text(payload.secret), "asub": text(payload.subject), "amsg": text(payload.message),
            "acta": text(payload.callToAction), "aimg": text(payload.image),
            "hidden": .int(payload.isHidden ? 1 : 0), "epoch": payload.epochMilliseconds.map(JSONValue.int) ?? .null,
        ]
    }
}
