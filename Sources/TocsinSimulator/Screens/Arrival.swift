/// A push that a provider has accepted, as far as its phone is concerned.
struct Arrival: Sendable {
    /// What makes it take the place of another: APNs' collapse id, Android's tag.
    var replaceKey: String?
    var title = ""
    var body = ""
    /// Whether something is shown; a background or data push goes to the app alone.
    var isShown = true
    var badge: Int?
    /// The app, for what providers keep for a phone that is away: APNs' topic.
    var app = ""
    /// Not kept, and not shown, from then on; 0 is not kept at all.
    var endsMilliseconds: Int64?
    /// How a provider keeps it for a phone that is away.
    var keeping = Keeping.newestOfApp
    /// Android's collapse key, whose messages come slowly after a burst.
    var throttleKey: String?

    enum Keeping: Sendable, Hashable {
        /// APNs: one for each app, the newest.
        case newestOfApp
        /// FCM: the newest for each key, of at most four keys.
        case newestOfKey(String)
        /// FCM: up to a hundred, then none.
        case each
    }
}
