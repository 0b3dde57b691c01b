public import JSON

/// A button of a notification.
public struct PushAction: Sendable, Hashable {
    /// What the app is told when it is pressed.
    public var id: String
    /// What stands on it.
    public var title: String
    /// What it opens, if it is a link.
    public var url: String?
    /// Whether the server makes a call when it is pressed (`pressButton`).
    public var callsServer = false
    /// Whether it opens the app.
    public var opensApp: Bool
    /// Whether it is shown as one that takes something away.
    public var isDestructive: Bool
    /// Whether the phone must be unlocked first.
    public var needsUnlock: Bool
    /// A field for an answer, if it has one.
    public var textInput: TextInput?

    /// A field for an answer.
    public struct TextInput: Sendable, Hashable {
        /// What stands on the button that sends it.
        public var buttonTitle: String
        /// What stands in the empty field.
        public var placeholder: String

        /// A field of these texts.
        public init(buttonTitle: String, placeholder: String) {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }

    /// A button of these parts.
    public init(
        id: String,
        title: String,
        opensApp: Bool = false,
        isDestructive: Bool = false,
        needsUnlock: Bool = false
    ) {
        self.id = id
        self.title = title
        self.opensApp = opensApp
        self.isDestructive = isDestructive
        self.needsUnlock = needsUnlock
    }

    /// Reads an action of a push, of a category, or of a web notification; `nil` without id or
    /// title.
    public init?(_ value: JSONValue) {
        guard let id = value["id"]?.stringValue ?? value["action"]?.stringValue, !id.isEmpty,
            let title = value["title"]?.stringValue
        else { return nil }
        self.init(
            id: id,
            title: title,
            opensApp: value["foreground"]?.boolValue ?? false,
            isDestructive: value["destructive"]?.boolValue ?? false,
            needsUnlock: value["authenticationRequired"]?.boolValue ?? false
        )
        url = value["url"]?.stringValue
        callsServer = value["call"]?.boolValue ?? false
        if let input = value["textInput"], input.objectValue != nil {
            textInput = TextInput(
                buttonTitle: input["buttonTitle"]?.stringValue ?? "",
                placeholder: input["placeholder"]?.stringValue ?? ""
            )
        }
    }
}

/// What a person did with a notification.
public struct PushResponse: Sendable, Hashable {
    /// What was pressed.
    public enum Kind: Sendable, Hashable {
        /// The notification itself.
        case opened
        /// It was swiped away.
        case dismissed
        /// A button; its description where the push or the app's categories have it.
        case action(id: String, PushAction?)
    }

    /// What was pressed.
    public let kind: Kind
    /// What was typed into the button's field.
    public let text: String?
    /// The push that was shown.
    public let push: PushContent

    /// Reads a response.
    ///
    /// - Parameters:
    ///   - actionID: The system's word for it: `UNNotificationResponse.actionIdentifier`, the
    ///     `action` of a click in a service worker, or an id of the app's own on Android. Empty
    ///     means the notification itself.
    ///   - text: What was typed.
    ///   - push: The push that was shown.
    ///   - categories: Where buttons are looked up that the push does not bring.
    public init(
        actionID: String,
        text: String? = nil,
        push: PushContent,
        categories: NotificationCategories = NotificationCategories([])
    ) {
        switch actionID {
        case "", "com.apple.UNNotificationDefaultActionIdentifier": kind = .opened
        case "com.apple.UNNotificationDismissActionIdentifier": kind = .dismissed
        default:
            let known = push.actions + (push.category.flatMap { categories[$0] }?.actions ?? [])
            kind = .action(id: actionID, known.first { $0.id == actionID })
        }
        self.text = text
        self.push = push
    }

    /// The link that this opens: the button's own, else the message's; `nil` for a dismissal and
    /// for a button without a link that does not open the app.
    public var url: String? {
        switch kind {
        case .opened: push.url
        case .dismissed: nil
        case .action(_, let action): action?.url ?? (action?.opensApp == true ? push.url : nil)
        }
    }
}
