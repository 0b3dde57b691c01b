public import JSON

/// The kinds of notifications that an app registers with the system, with their buttons.
public struct NotificationCategories: Sendable, Hashable {
    /// One kind of notification.
    public struct Category: Sendable, Hashable {
        /// What a message's `category` says.
        public var id: String
        /// The buttons in the order in which they are shown.
        public var actions: [PushAction]
        /// Shown in place of the text where previews are hidden.
        public var hiddenPreview: String?

        /// A category of these parts.
        public init(id: String, actions: [PushAction], hiddenPreview: String? = nil) {
            self.id = id
            self.actions = actions
            self.hiddenPreview = hiddenPreview
        }

        init?(_ value: JSONValue) {
            guard let id = value["id"]?.stringValue, !id.isEmpty else { return nil }
            self.init(
                id: id,
                actions: (value["actions"]?.arrayValue ?? []).compactMap { PushAction($0) },
                hiddenPreview: value["hiddenPreview"]?.stringValue
            )
        }
    }

    /// All of them, in order.
    public var categories: [Category]

    /// These categories.
    public init(_ categories: [Category]) { self.categories = categories }

    /// Reads the answer of `document`, a file of categories, or the list alone; what is no category
    /// is left out.
    public init(json: JSONValue) {
        let list = json.arrayValue ?? (json["notificationCategories"] ?? json["categories"])?.arrayValue ?? []
        self.init(list.compactMap { Category($0) })
    }

    /// The category of this id.
    public subscript(id: String) -> Category? { categories.first { $0.id == id } }

    /// Asks a server for its categories.
    public static let document = """
        query Categories {
          notificationCategories {
            id hiddenPreview
            actions { id title foreground destructive authenticationRequired textInput { buttonTitle placeholder } }
          }
        }
        """

    /// Those of tasks that are due: what an app can register before it has asked a server.
    public static let tasks: NotificationCategories = {
        let complete = PushAction(id: "COMPLETE", title: "Complete", needsUnlock: true)
        let edit = PushAction(id: "EDIT", title: "Edit", opensApp: true)
        let skip = PushAction(id: "SKIP", title: "Skip", needsUnlock: true)
        let inProgress = PushAction(id: "IN_PROGRESS", title: "In Progress", needsUnlock: true)
        let cancel = PushAction(id: "CANCEL", title: "Cancel", isDestructive: true, needsUnlock: true)
        return NotificationCategories([
            Category(id: "TASK_ACTIONABLE", actions: [complete, edit, skip, inProgress]),
            Category(id: "TASK_IN_PROGRESS", actions: [complete, edit, cancel]),
            Category(id: "TASK_CANCELLED", actions: [edit]),
            Category(id: "TASK_COMPLETED", actions: [edit]),
        ])
    }()
}
