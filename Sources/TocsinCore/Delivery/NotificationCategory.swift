/// A kind of notification with its buttons, as apps register it with the system.
package struct NotificationCategory: Sendable, Hashable {
    /// What a message's `category` names.
    package var id: String
    /// The buttons, in the order in which they are shown.
    package var actions: [NotificationAction]
    /// What is shown in place of the text where previews are hidden.
    package var hiddenPreview: String?

    /// A category from the categories file, which has been checked.
    package init(id: String, actions: [NotificationAction], hiddenPreview: String? = nil) {
        self.id = id
        self.actions = actions
        self.hiddenPreview = hiddenPreview
    }
}

/// A state of what messages are about, which chooses their category and buttons.
package struct NotificationState: Sendable, Hashable {
    /// What a message's `category` says, in letters of either case.
    package var name: String
    /// The id of the category that phones get in its place.
    package var category: String
    /// The buttons where the server sends them; nil: those of the category.
    package var actions: [NotificationAction]?

    /// A state from the categories file, which has been checked.
    package init(name: String, category: String, actions: [NotificationAction]? = nil) {
        self.name = name
        self.category = category
        self.actions = actions
    }
}

/// A button of a notification.
package struct NotificationAction: Sendable, Hashable {
    /// How it behaves, in the words of the categories file and of the API.
    package enum Option: String, Sendable, Hashable, CaseIterable {
        /// Opens the app.
        case foreground
        /// Shown as something that destroys.
        case destructive
        /// The phone must be unlocked first.
        case authenticationRequired
    }

    /// A field for an answer, opened by the button.
    package struct TextInput: Sendable, Hashable {
        /// The words on the button that sends the answer.
        package var buttonTitle: String
        /// What the empty field shows.
        package var placeholder: String

        /// A field with its words, in the language of the file.
        package init(buttonTitle: String, placeholder: String) {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }

    /// What the app is told when the button is pressed; unique in its category.
    package var id: String
    /// The words on the button.
    package var title: String
    /// How the button behaves.
    package var options: Set<Option>
    /// The field for an answer; nil: the button only acts.
    package var textInput: TextInput?
    /// What it opens; of actions that a message brings with it.
    package var url: String?
    /// Whether the server makes a call when it is pressed; of actions that a message brings.
    package var isCall = false

    /// A button; by default one that acts in the background and takes no answer.
    package init(
        id: String,
        title: String,
        options: Set<Option> = [],
        textInput: TextInput? = nil,
        url: String? = nil
    ) {
        self.id = id
        self.title = title
        self.options = options
        self.textInput = textInput
        self.url = url
    }
}
