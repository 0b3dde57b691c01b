/// A kind of notification with its buttons, as apps register it with the system.
package struct NotificationCategory: Sendable, Hashable {
    /// What a message's `category` names.
    package var id: String
    /// The buttons, in the order in which they are shown.
    package var actions: [NotificationAction]
    /// What is shown in place of the text where previews are hidden.
    package var hiddenPreview: String?

    package init(id: String, actions: [NotificationAction], hiddenPreview: String? = nil) {
        self.id = id
        self.actions = actions
        self.hiddenPreview = hiddenPreview
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
        package var buttonTitle: String
        package var placeholder: String

        package init(buttonTitle: String, placeholder: String) {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }

    package var id: String
    package var title: String
    package var options: Set<Option>
    package var textInput: TextInput?
    /// What it opens; of actions that a message brings with it.
    package var url: String?

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
