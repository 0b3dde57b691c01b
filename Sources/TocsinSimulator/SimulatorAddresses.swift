/// Where a running simulator listens, and what to tell a server so that it pushes there.
package struct SimulatorAddresses: Sendable {
    /// Origin of the fake APNs, for example `https://localhost:40001`.
    package let apns: String
    /// Origin of the fake FCM.
    package let fcm: String
    /// The token endpoint's whole URL.
    package let token: String
    /// Origin of the fake push service of browsers.
    package let webPush: String
    /// The public key that browsers subscribe with, in base64url.
    package let vapidKey: String
    /// Origin of the control listener.
    package let control: String
    /// The CA that signed the providers' certificate.
    package let authorityPath: String
    /// Environment variables of a server that uses this simulator, in the order people read them.
    package let environment: [(name: String, value: String)]

    /// What to print at start: where everything is as comments, then the environment as lines a shell can read.
    package var banner: String {
        let comments = [
            "# Fake APNs      \(apns)",
            "# Fake FCM       \(fcm)",
            "# Token endpoint \(token)",
            "# Fake Web Push \(webPush)",
            "# Control        \(control)/ lists what it does",
            "# Give a server these settings, and register devices with any token (a table of scripted ones: --help):",
        ]
        let lines = environment.map { "export \($0.name)=\(Self.quoted($0.value))" }
        return (comments + lines).joined(separator: "\n")
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "/:._-".utf8.contains(byte)
        }
        guard !isPlain else { return value }
        return "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
