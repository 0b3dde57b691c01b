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

    /// The environment as lines that a shell can read.
    package var exports: [String] {
        environment.map { "export \($0.name)='\($0.value.replacing("'", with: "'\\''"))'" }
    }
}
