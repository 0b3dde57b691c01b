/// In which state a push finds an app.
public enum AppState: String, Sendable, Hashable, CaseIterable {
    /// The app is on the screen.
    case foreground
    /// The app runs, and is not on the screen.
    case background
    /// The app does not run.
    case stopped
    /// The notification, or a button of it, was pressed.
    case tapped
    /// A silent push woke the app.
    case silent
}

/// What an app does with a push in each state.
public struct PushReception: Sendable, Hashable {
    /// The app's state.
    public let state: AppState
    /// The method of iOS that is called.
    public let iOSHook: String
    /// The method of Android that is called.
    public let androidHook: String
    /// What to do, in order.
    public let steps: [String]

    /// One row a state.
    public static let table = [
        PushReception(
            state: .foreground,
            iOSHook: "userNotificationCenter(_:willPresent:)",
            androidHook: "onMessageReceived",
            steps: ["read the push", "presentation(of:shown:openTopicID:) says whether it is shown"]
        ),
        PushReception(
            state: .background,
            iOSHook: "the service extension's didReceive, then the system",
            androidHook: "the system; onMessageReceived for data alone",
            steps: ["open what is sealed", "attach the picture", "note the message's id"]
        ),
        PushReception(
            state: .stopped,
            iOSHook: "the service extension's didReceive, then the system",
            androidHook: "the system; onMessageReceived for data alone",
            steps: ["open what is sealed", "attach the picture", "note the message's id"]
        ),
        PushReception(
            state: .tapped,
            iOSHook: "userNotificationCenter(_:didReceive:), also after a launch",
            androidHook: "the activity's intent, with the data as extras",
            steps: ["read a PushResponse", "LinkTable finds the view", "mark the message as read"]
        ),
        PushReception(
            state: .silent,
            iOSHook: "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)",
            androidHook: "onMessageReceived",
            steps: ["fetch what is new within 20 s", "set the badge", "say truthfully whether there was anything"]
        ),
    ]

    /// How a push is shown while the app is on the screen.
    public enum Presentation: Sendable, Hashable {
        /// As a banner.
        case banner
        /// Not at all: it was shown, its topic is on the screen, or it is silent.
        case nothing
    }

    /// Decides whether a push is shown while the app is on the screen, and notes it as shown.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - shown: The messages that were shown.
    ///   - openTopicID: The topic that the person looks at, if any.
    public static func presentation(
        of push: PushContent,
        shown: inout ShownMessages,
        openTopicID: String? = nil
    ) -> Presentation {
        guard shown.shows(push) else { return .nothing }
        return push.topicID != nil && push.topicID == openTopicID ? .nothing : .banner
    }
}
