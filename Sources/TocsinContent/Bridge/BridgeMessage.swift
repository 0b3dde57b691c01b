public import JSON

/// What a page in a web view asks its app to do.
public enum BridgeMessage: Sendable, Hashable {
    /// Show a view of the app.
    case navigate(route: String)
    /// Put a product into the cart.
    case addToCart(productID: String)
    /// Something that only the app knows.
    case other(action: String, fields: JSONObject)

    /// The largest message that is taken, in bytes of JSON.
    private static let mostBytes = 65_536
    private static let longestAction = 64

    /// Reads a message of iOS: `{action, …}`; `nil` when it is none, or too large.
    public init?(body: Any) {
        guard let fields = JSONValue(plain: body)?.objectValue, let action = fields["action"]?.stringValue,
            JSONValue.object(fields).serialized().count <= Self.mostBytes
        else { return nil }
        var rest = fields
        rest["action"] = nil
        self.init(action: action, fields: rest)
    }

    /// Reads a message of Android: the method's name, and its argument.
    public init?(action: String, json: String) {
        guard json.utf8.count <= Self.mostBytes, let fields = try? JSONParser.parse(json).objectValue else {
            return nil
        }
        self.init(action: action, fields: fields)
    }

    private init?(action: String, fields: JSONObject) {
        guard !action.isEmpty, action.utf8.count <= Self.longestAction else { return nil }
        switch action {
        case "navigate":
            guard let route = fields["route"]?.stringValue else { return nil }
            self = .navigate(route: route)
        case "addToCart":
            guard let id = fields["productId"].flatMap(PushFields.text) else { return nil }
            self = .addToCart(productID: id)
        default: self = .other(action: action, fields: fields)
        }
    }
}
