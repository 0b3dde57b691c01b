/// Which of Apple's two push services an app's device tokens are for.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
    /// Apps that Xcode installed.
    case sandbox
    /// Apps of the App Store and of TestFlight.
    case production
}

extension APNsEnvironment {
    /// What an app's embedded provisioning profile says.
    ///
    /// Read the profile from the app's bundle: `embedded.mobileprovision`, on macOS and Catalyst
    /// `embedded.provisionprofile`. Apps of the App Store and of TestFlight have none.
    ///
    /// - Parameters:
    ///   - profile: The file's bytes; `nil` when there is no such file.
    ///   - isSimulator: Whether the app runs in Apple's simulator, whose tokens are of the sandbox.
    /// - Returns: `nil` when the profile does not say it. Then register without an environment; the
    ///   server learns the side from Apple's answers.
    public static func detect(profile: [UInt8]?, isSimulator: Bool) -> APNsEnvironment? {
        if isSimulator { return .sandbox }
        guard let profile else { return .production }
        // The property list stands as plain text in the signed file. macOS prefixes the key.
        for key in ["<key>aps-environment</key>", "<key>com.apple.developer.aps-environment</key>"] {
            guard let end = position(after: Array(key.utf8), in: profile) else { continue }
            switch string(at: end, in: profile) {
            case "development": return .sandbox
            case "production": return .production
            default: return nil
            }
        }
        return nil
    }

    private static func position(after pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        for start in 0...(bytes.count - pattern.count)
        where bytes[start] == pattern[0] && bytes[start..<(start + pattern.count)].elementsEqual(pattern) {
            return start + pattern.count
        }
        return nil
    }

    /// The text of the `<string>` that follows white space, if it is a short one.
    private static func string(at start: Int, in bytes: [UInt8]) -> String? {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let rest = bytes[start...].drop(while: blanks.contains)
        let (opening, closing) = (Array("<string>".utf8), UInt8(ascii: "<"))
        guard rest.starts(with: opening) else { return nil }
        let text = rest.dropFirst(opening.count).prefix(32)
        guard let end = text.firstIndex(of: closing) else { return nil }
        return String(decoding: text[..<end], as: UTF8.self)
    }
}
