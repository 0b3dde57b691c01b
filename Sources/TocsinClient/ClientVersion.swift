/// What the client calls itself.
package enum ClientVersion {
    /// The version of client and server, which are released together.
    package static let text = "0.1.0"

    /// The value of `User-Agent`.
    static let userAgent = "tocsin-client/\(text) (\(platform))"

    /// The same for the command line, by which the server tells acts of people at a terminal.
    package static let commandLine = "tocsin/\(text) (\(platform))"

    private static var platform: String {
        #if os(Linux)
        "Linux"
        #elseif os(Android)
        "Android"
        #elseif os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #else
        "Apple"
        #endif
    }
}
