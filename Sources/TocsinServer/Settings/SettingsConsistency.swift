import TocsinAuth
import TocsinCore

/// What settings must satisfy together, once each is in its place.
struct SettingsConsistency {
    private(set) var problems: [String] = []
    private(set) var warnings: [String] = []

    init(_ settings: Settings) {
        checkSignIn(settings.signIn)
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
        if (settings.server.tlsCertificatePath == nil) != (settings.server.tlsKeyPath == nil) {
            problems.append("TOCSIN_TLS_CERTIFICATE and TOCSIN_TLS_KEY go together: set both, or neither.")
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
