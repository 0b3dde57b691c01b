import TocsinAPI
package import TocsinCore

/// Notification categories as the source that an iOS app registers them with.
package enum CategorySource {
    /// Swift for the categories of the file at this path; nil: those that ship.
    package static func swift(path: String?) throws(StartError) -> String {
        swift(try Declarations.categories(path: path).categories)
    }

    /// Written so because it is no import of this file's.
    private static let framework = ["import", "UserNotifications"].joined(separator: " ")

    /// Swift for these categories.
    package static func swift(_ categories: [NotificationCategory]) -> String {
        """
        // Made by `tocsin generate categories --swift`: change the categories file, not this one.

        \(framework)

        extension UNNotificationCategory {
            /// What the server's messages may name as their category.
            ///
            ///     let center = UNUserNotificationCenter.current()
            ///     center.setNotificationCategories(UNNotificationCategory.tocsin)
            static var tocsin: Set<UNNotificationCategory> {
                [
        \(categories.map(category).joined(separator: "\n"))
                ]
            }
        }

        """
    }

    private static func category(_ category: NotificationCategory) -> String {
        var lines = ["            UNNotificationCategory("]
        lines.append("                identifier: \(literal(category.id)),")
        lines.append("                actions: [")
        lines += category.actions.map(action)
        lines.append("                ],")
        lines.append("                intentIdentifiers: [],")
        if let preview = category.hiddenPreview {
            lines.append("                hiddenPreviewsBodyPlaceholder: \(literal(preview)),")
        }
        lines.append("                options: []")
        lines.append("            ),")
        return lines.joined(separator: "\n")
    }

    private static func action(_ action: NotificationAction) -> String {
        let chosen = NotificationAction.Option.allCases.filter(action.options.contains).map { "." + $0.rawValue }
        var arguments = [
            "identifier: \(literal(action.id))", "title: \(literal(action.title))",
            "options: [\(chosen.joined(separator: ", "))]",
        ]
        var type = "UNNotificationAction"
        if let input = action.textInput {
            type = "UNTextInputNotificationAction"
            arguments.append("textInputButtonTitle: \(literal(input.buttonTitle))")
            arguments.append("textInputPlaceholder: \(literal(input.placeholder))")
        }
        let lines = arguments.map { "                        " + $0 }.joined(separator: ",\n")
        return "                    \(type)(\n\(lines)\n                    ),"
    }

    /// A Swift string literal that means exactly this text.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\" + String(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
