import Encodings
import TocsinAuth
import TocsinCore
import TocsinHTTP

/// What single values must satisfy beyond their kind.
enum SettingRules {
    static func issuerProblem(_ text: String) -> SettingProblem? {
        guard text != LocalTokens.issuer else {
            return "that is the issuer of this server's own tokens; name your provider's"
        }
        return nil
    }

    static func httpsProblem(_ text: String) -> SettingProblem? {
        guard text.hasPrefix("https://"), hasHost(text) else {
            return "write an https address, or save the key set and name the file in TOCSIN_JWKS_FILE"
        }
        return nil
    }

    static func addressProblem(_ text: String) -> SettingProblem? {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), hasHost(text) else {
            return "write an address that begins with https://HOST or http://HOST"
        }
        return nil
    }

    /// Browsers write an origin without a path and without a slash at its end.
    static func originProblem(_ text: String) -> SettingProblem? {
        if text == "*" { return nil }
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), hasHost(text), text.count(of: "/") == 2,
            !text.contains("?"), !text.contains("#"), !text.contains("*")
        else {
            return "write origins as browsers do, https://HOST or https://HOST:PORT with nothing behind, or * for any"
        }
        return nil
    }

    static func networkProblem(_ text: String) -> SettingProblem? {
        guard AddressNetwork(text) == nil else { return nil }
        return "write IP addresses or networks with commas between, such as 127.0.0.1,10.0.0.0/8,fd00::/8, or none"
    }

    /// RFC 9110 §5.1.
    static func fieldNameProblem(_ text: String) -> SettingProblem? {
        let isName = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        return isName ? nil : "write names of header fields with commas between, such as x-app-version,x-trace-id"
    }

    static func publicNameProblem(_ text: String) -> SettingProblem? {
        let isName = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-.:[]".utf8.contains(byte)
        }
        guard isName, text.utf8.count <= 253 else {
            return "write a host's name, with a port if it needs one and nothing else, such as push.example.com"
        }
        return nil
    }

    /// An origin: cookies are kept by it, and sign-in providers compare the whole address.
    static func publicURLProblem(_ text: String) -> SettingProblem? {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), hasHost(text), text.count(of: "/") == 2, isPlain,
            !text.contains("?"), !text.contains("#"), !text.contains("@")
        else { return "write https://HOST or https://HOST:PORT with nothing behind, such as https://push.example.com" }
        return nil
    }

    static func heartbeatURLProblem(_ text: String) -> SettingProblem? {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && text.utf8.count <= 2048
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), hasHost(text), isPlain else {
            return "write an address to fetch, such as https://watch.example.com/ping/KEY"
        }
        return nil
    }

    static func appleIDProblem(_ text: String) -> SettingProblem? {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && text.utf8.count <= 64
        return isPlain ? nil : "write the 10 letters and digits that Apple shows"
    }

    static func apnsKeyProblem(_ text: String) -> SettingProblem? {
        keyProblem(text, .es256, "Apple's keys are for ES256; give the contents of the .p8 file")
    }

    static func fcmKeyProblem(_ text: String) -> SettingProblem? {
        keyProblem(text, .rs256, "a service account's key is for RS256; give private_key of its key file")
    }

    static func vapidKeyProblem(_ text: String) -> SettingProblem? {
        do throws(KeyError) {
            _ = try VAPIDKey(privateText: text)
            return nil
        } catch {
            return SettingProblem(error.description)
        }
    }

    static func subjectProblem(_ text: String) -> SettingProblem? {
        let isMail = text.hasPrefix("mailto:") && text.dropFirst(7).split(separator: "@").count == 2
        guard isMail || (text.hasPrefix("https://") && hasHost(text)),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "write mailto: with your address, or an https address" }
        return nil
    }

    static func hmacProblem(_ text: String) -> SettingProblem? {
        do throws(KeyError) {
            _ = try HMACKey(secret: Array(text.utf8))
            return nil
        } catch {
            return SettingProblem(error.description)
        }
    }

    static func serverKeyProblem(_ text: String) -> SettingProblem? {
        do throws(KeyError) {
            _ = try ServerKey(text: text)
            return nil
        } catch {
            return SettingProblem(error.description)
        }
    }

    private static func keyProblem(_ text: String, _ kind: SignatureAlgorithm, _ advice: String) -> SettingProblem? {
        do throws(KeyError) {
            return try PrivateKey(pem: text).kind == kind ? nil : SettingProblem(advice)
        } catch {
            return SettingProblem(error.description)
        }
    }

    private static func hasHost(_ address: String) -> Bool {
        guard let start = address.range(ofScheme: "://") else { return false }
        let host = address[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !host.isEmpty && !host.contains("@") && address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension String {
    fileprivate func count(of character: Character) -> Int { count { $0 == character } }

    /// Where the text after the first `separator` begins.
    fileprivate func range(ofScheme separator: String) -> Index? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(separator) { return rest.index(rest.startIndex, offsetBy: separator.count) }
            rest.removeFirst()
        }
        return nil
    }
}

/// What settings must satisfy together, once each is in its place.
struct SettingsConsistency {
    private(set) var problems: [String] = []
    private(set) var warnings: [String] = []

    init(_ settings: Settings) {
        checkSignIn(settings.signIn)
        checkOIDC(settings)
        checkAPNs(settings.apns)
        checkFCM(settings.fcm)
        checkWebPush(settings.webPush)
        checkDefaultApp(settings)
        let push = settings.push
        if push.leaseSeconds < 2 * push.requestTimeoutSeconds {
            problems.append(
                "TOCSIN_PUSH_LEASE_SECONDS (\(push.leaseSeconds)) must be at least twice "
                    + "TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS (\(push.requestTimeoutSeconds)), or a node that still waits for "
                    + "an answer would lose its delivery to another. Raise the first or lower the second."
            )
        }
        if settings.limits.pageRows > settings.limits.pageMaximumRows {
            problems.append("TOCSIN_PAGE_ROWS must not be larger than TOCSIN_PAGE_MAXIMUM_ROWS.")
        }
        checkTrust(settings.server)
        checkAdmin(settings.admin)
        if settings.signIn.registrationProof != "off", settings.server.publicName == nil {
            problems.append(
                "TOCSIN_REGISTRATION_PROOF is \(settings.signIn.registrationProof), but the signed text has no server to "
                    + "name: set TOCSIN_PUBLIC_NAME to the host name that clients use, such as push.example.com."
            )
        }
        if (settings.server.tlsCertificatePath == nil) != (settings.server.tlsKeyPath == nil) {
            problems.append("TOCSIN_TLS_CERTIFICATE and TOCSIN_TLS_KEY go together: set both, or neither.")
        }
    }

    private mutating func checkAdmin(_ admin: Settings.Admin) {
        guard case .at(let addresses) = admin.listening, admin.token == nil else { return }
        for address in addresses where !address.isOfThisMachine {
            problems.append(
                "TOCSIN_ADMIN_LISTEN has \(address), which other machines reach: set TOCSIN_ADMIN_TOKEN_FILE to a file with a "
                    + "token that callers show, or listen on 127.0.0.1."
            )
        }
    }

    private mutating func checkTrust(_ server: Settings.Server) {
        if server.trustedMode != "off", server.trustedDocumentsPath == nil {
            problems.append(
                "TOCSIN_TRUSTED_MODE is \(server.trustedMode), but nothing names the documents: set "
                    + "TOCSIN_TRUSTED_DOCUMENTS to their folder too."
            )
        }
        if server.trustedMode == "off", server.trustedDocumentsPath != nil {
            warnings.append(
                "TOCSIN_TRUSTED_DOCUMENTS has no effect while TOCSIN_TRUSTED_MODE is off; set it to allow or only."
            )
        }
    }

    private mutating func checkSignIn(_ signIn: Settings.SignIn) {
        let sources = [
            ("TOCSIN_JWKS_URL", signIn.jwksURL != nil), ("TOCSIN_JWKS_FILE", signIn.jwksPath != nil),
            ("TOCSIN_JWT_HS256_SECRET", signIn.hs256Secret != nil),
        ].filter(\.1).map(\.0)
        if sources.count > 1 {
            problems.append("\(sources.joined(separator: " and ")) exclude each other: a token's key has one source.")
        }
        let names = [("TOCSIN_JWT_ISSUER", signIn.issuer != nil), ("TOCSIN_JWT_AUDIENCE", !signIn.audiences.isEmpty)]
        if sources.isEmpty {
            for (name, isSet) in names where isSet {
                problems.append(
                    "\(name) is set, but nothing that gives the keys: set TOCSIN_JWKS_URL, TOCSIN_JWKS_FILE or "
                        + "TOCSIN_JWT_HS256_SECRET too."
                )
            }
        } else {
            for (name, isSet) in names where !isSet {
                problems.append("\(sources[0]) is set, but not \(name), which every token must match: set it too.")
            }
        }
        if let secret = signIn.hs256Secret, secret.contents.utf8.count < HMACKey.recommendedBytes {
            warnings.append(
                "TOCSIN_JWT_HS256_SECRET is shorter than \(HMACKey.recommendedBytes) bytes, which RFC 7518 asks for."
            )
        }
    }

    private mutating func checkOIDC(_ settings: Settings) {
        let providers = settings.signIn.allOIDC
        if settings.signIn.oidc.issuer == nil, settings.signIn.oidc != Settings.OIDC() {
            problems.append("Settings of TOCSIN_OIDC_… are there, but not TOCSIN_OIDC_ISSUER. Set it too.")
        }
        for provider in providers { problems += provider.problems.map { "oidc (\(provider.id)): \($0)" } }
        for (id, same) in Dictionary(grouping: providers, by: \.id) where same.count > 1 {
            problems.append("Two sign-in providers have the id \(id). Give each an id of its own.")
        }
        guard !providers.isEmpty else { return }
        if settings.server.publicURL == nil {
            problems.append(
                "A sign-in provider sends browsers back to this server: set TOCSIN_PUBLIC_URL to the address by which they "
                    + "find it, such as https://push.example.com."
            )
        }
        if let url = settings.server.publicURL, EndpointAddress(url) == nil {
            problems.append("TOCSIN_PUBLIC_URL must be https (http only for localhost) to sign in with a provider.")
        }
        if settings.signIn.sessionLifetimeSeconds ?? 0 > 86_400, providers.contains(where: { $0.groupsClaim != nil }) {
            warnings.append(
                "Groups of a sign-in provider that gives no refresh token hold until the session ends: consider a shorter "
                    + "TOCSIN_SESSION_LIFETIME, such as 12h, or ask for the scope offline_access."
            )
        }
    }

    private mutating func checkAPNs(_ apns: Settings.APNs) {
        checkWhole(
            "Apple push",
            [
                ("APNS_KEY_ID", apns.keyID != nil), ("APNS_TEAM_ID", apns.teamID != nil),
                ("APNS_KEY_CONTENTS or APNS_AUTH_KEY_PATH", apns.privateKey != nil),
            ]
        )
        for (name, value) in [("APNS_KEY_ID", apns.keyID), ("APNS_TEAM_ID", apns.teamID)] {
            guard let value, value.utf8.count != 10 else { continue }
            warnings.append("\(name) has \(value.utf8.count) characters; Apple's have 10. Is it the right text?")
        }
        if apns.isConfigured, apns.bundleID == nil {
            warnings.append("APNS_BUNDLE_ID is not set: devices that register without an app id cannot be reached.")
        }
    }

    private mutating func checkFCM(_ fcm: Settings.FCM) {
        checkWhole(
            "Google push",
            [
                ("FCM_PROJECT_ID", fcm.projectID != nil), ("FCM_CLIENT_EMAIL", fcm.clientEmail != nil),
                ("FCM_PRIVATE_KEY", fcm.privateKey != nil),
            ],
            hint: " (or name a key file in GOOGLE_APPLICATION_CREDENTIALS)"
        )
    }

    private mutating func checkWebPush(_ webPush: Settings.WebPush) {
        checkWhole(
            "Push to browsers",
            [("VAPID_PRIVATE_KEY", webPush.privateKey != nil), ("VAPID_SUBJECT", webPush.subject != nil)],
            hint: " (VAPID_SUBJECT=mailto:you@example.com)"
        )
        if let text = webPush.publicKey {
            let key = webPush.privateKey.flatMap { try? VAPIDKey(privateText: $0.contents) }
            if let key, key.publicText != text {
                problems.append(
                    "VAPID_PUBLIC_KEY is not the public half of VAPID_PRIVATE_KEY, which is \(key.publicText). Set both of "
                        + "one pair, or the private key alone."
                )
            } else if webPush.privateKey == nil {
                problems.append("VAPID_PUBLIC_KEY is set, but not VAPID_PRIVATE_KEY, with which pushes are signed.")
            }
        }
        if webPush.allowsPrivateAddresses {
            warnings.append(
                "WEBPUSH_ALLOW_PRIVATE_ADDRESSES is on: whoever may register a browser can make this server call machines of "
                    + "its own network. Use it for tests only."
            )
        }
    }

    private mutating func checkDefaultApp(_ settings: Settings) {
        let defaults = settings.apps.filter(\.isDefault).map(\.id)
        if defaults.count > 1 {
            problems.append("\(defaults.joined(separator: " and ")) are both the default app. Only one can be.")
        }
        if let app = defaults.first, settings.apns.isConfigured || settings.fcm.isConfigured {
            problems.append(
                "\(app) is the default app, but there are credentials outside of apps too, which are the default app's. "
                    + "Move them into its table, or remove default from it."
            )
        }
    }

    /// All or none of the parts of a credential.
    private mutating func checkWhole(_ name: String, _ parts: [(name: String, isSet: Bool)], hint: String = "") {
        let present = parts.filter(\.isSet).map(\.name)
        let missing = parts.filter { !$0.isSet }.map(\.name)
        guard !present.isEmpty, !missing.isEmpty else { return }
        problems.append(
            "\(name) is set up half-way: \(present.joined(separator: " and ")) without \(missing.joined(separator: " and ")). "
                + "Set the rest\(hint), or nothing of it."
        )
    }
}
