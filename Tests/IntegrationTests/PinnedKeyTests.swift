import Dispatch
import Foundation
import Testing
import TocsinClient

@Suite("Pinned keys of the client", .timeLimit(.minutes(5)))
struct PinnedKeyTests {
    /// A key that nobody has.
    private static let other = "sha256/" + String(repeating: "A", count: 43) + "="

    @Test("a client with pinned keys speaks to a server that has one of them, and shows its token to no other")
    func pinned() async throws {
        try await Installation.run(isEncrypted: true) { installation in
            let token = try await installation.addUser("ada")
            let certificate = installation.folder + "/simulator/server.pem"
            let pin = try await ChildProcess.run(
                "/bin/sh",
                [
                    "-c",
                    "openssl x509 -in \(certificate) -noout -pubkey | openssl pkey -pubin -outform der "
                        + "| openssl dgst -sha256 -binary | base64",
                ],
                environment: TestBinary.environment,
                folder: installation.folder
            )
            let own = "sha256/" + pin.output.trimmingCharacters(in: .whitespacesAndNewlines)
            var settings = ClientSettings()
            settings.certificateAuthorityFile = installation.authorityFile
            settings.pinnedKeys = [own, Self.other]
            let client = try TocsinClient(url: installation.address, token: token, settings: settings)
            let topicID = try await client.makeTopic(named: "alerts")
            let follower = Follower(client, topicID: topicID)
            try await follower.untilLive()
            follower.stop()

            settings.pinnedKeys = [Self.other, "sha256/" + String(repeating: "B", count: 42) + "A="]
            let address = installation.address
            // A client that is slower than the network sends when the connection has ended.
            for executor in [nil, LateExecutor()] {
                let strange = try TocsinClient(url: address, token: token, settings: settings)
                let asked = Task(executorPreference: executor) { try await strange.query("{ me { username } }") }
                let error = await #expect(throws: ClientError.self) { try await asked.value }
                #expect(
                    error?.code == .badAnswer && error?.message.contains("pinned") == true,
                    "\(String(describing: error))"
                )
            }
        }
    }

    /// Runs each piece of a task a moment later.
    private final class LateExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "late")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.asyncAfter(deadline: .now() + .milliseconds(50)) {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
            }
        }
    }
}
