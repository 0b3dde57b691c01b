import Testing
import TocsinCore
import TocsinServer

@Suite("Categories as source")
struct CategorySourceTests {
    @Test("the Swift source has every category, button and option, and texts as they are")
    func swift() {
        let reply = NotificationAction(
            id: "REPLY",
            title: "Say \"hi\"\\",
            options: [.authenticationRequired, .foreground],
            textInput: NotificationAction.TextInput(buttonTitle: "Send", placeholder: "Message")
        )
        let skip = NotificationAction(id: "SKIP", title: "Skip")
        let categories = [
            NotificationCategory(id: "A", actions: [reply, skip], hiddenPreview: "News"),
            NotificationCategory(id: "B", actions: [skip]),
        ]
        #expect(CategorySource.swift(categories) == Self.expected)
    }

    private static let expected = #"""
        // Made by `tocsin generate categories --swift`: change the categories file, not this one.

        import UserNotifications

        extension UNNotificationCategory {
            /// What the server's messages may name as their category.
            ///
            ///     let center = UNUserNotificationCenter.current()
            ///     center.setNotificationCategories(UNNotificationCategory.tocsin)
            static var tocsin: Set<UNNotificationCategory> {
                [
                    UNNotificationCategory(
                        identifier: "A",
                        actions: [
                            UNTextInputNotificationAction(
                                identifier: "REPLY",
                                title: "Say \"hi\"\\",
                                options: [.foreground, .authenticationRequired],
                                textInputButtonTitle: "Send",
                                textInputPlaceholder: "Message"
                            ),
                            UNNotificationAction(
                                identifier: "SKIP",
                                title: "Skip",
                                options: []
                            ),
                        ],
                        intentIdentifiers: [],
                        hiddenPreviewsBodyPlaceholder: "News",
                        options: []
                    ),
                    UNNotificationCategory(
                        identifier: "B",
                        actions: [
                            UNNotificationAction(
                                identifier: "SKIP",
                                title: "Skip",
                                options: []
                            ),
                        ],
                        intentIdentifiers: [],
                        options: []
                    ),
                ]
            }
        }

        """#
}
