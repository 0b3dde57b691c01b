import ArgumentParser
import TocsinAuth
import TocsinCore

/// `tocsin vapid`: the keys of Web Push.
struct VAPIDCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vapid",
        abstract: "Make the keys by which browsers and their push services know a server.",
        subcommands: [Create.self]
    )

    /// `tocsin vapid create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new pair of keys as settings.",
            discussion: """
                Keep the private key: browsers subscribe with the public half, and their subscriptions end with it. Pages \
                ask the server for it (query { webPushKey }) and give it to pushManager.subscribe as applicationServerKey. \
                VAPID_SUBJECT is an address of yours that push services may turn to.

                EXAMPLE
                  tocsin vapid create > vapid.env
                """
        )

        func run() async throws {
            do throws(KeyError) {
                let key = try VAPIDKey.make()
                Terminal.print("VAPID_PUBLIC_KEY=\(key.publicText)")
                Terminal.print("VAPID_PRIVATE_KEY=\(try key.privateText())")
            } catch {
                throw CommandFailure(error.description)
            }
        }
    }
}
