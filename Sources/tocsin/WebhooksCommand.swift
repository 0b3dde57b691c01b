import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin webhooks list | retry`.
struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Look after events that webhooks have not heard yet.",
        discussion: "Webhooks are declared in the settings file; docs/webhooks.md says how.",
        subcommands: [List.self, Retry.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List events that wait or were given up, the oldest first; at most 1000."
        )

        @Flag(help: "Only those that were given up.") var dead = false
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                for event in try await tool.webhookEvents(status: dead ? .dead : nil) {
                    print(json ? line(event) : row(event))
                }
            }
        }

        private func row(_ event: WebhookEvent) -> String {
            [
                event.id.text, event.webhook, event.type.rawValue, event.status.rawValue, "\(event.attempts)",
                event.reason.map(Terminal.harmless) ?? "",
            ].joined(separator: "\t")
        }

        private func line(_ event: WebhookEvent) -> String {
            JSONValue.object([
                "id": .string(event.id.text), "webhook": .string(event.webhook), "type": .string(event.type.rawValue),
                "status": .string(event.status.rawValue), "attempts": .int(Int64(event.attempts)),
                "reason": event.reason.map(JSONValue.string) ?? .null,
                "createdAt": .string(event.createdAt.iso8601),
                "nextAttemptAt": event.nextAttemptAt.map { .string($0.iso8601) } ?? .null,
            ]).serializedString()
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send again what was given up; a running server begins within half a minute."
        )

        @Argument(help: "A webhook's name; all of them if none is given.") var webhook: String?
        @OptionGroup var store: StoreOptions

        func run() async throws {
            let declared = try SettingsLoading.load(flags: store.flags).settings.webhooks.map(\.name)
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                let count = try await tool.redriveWebhookEvents(of: webhook)
                if count == 0, let webhook, !declared.contains(webhook) { throw .badInput(unknown(webhook, declared)) }
                print(count == 1 ? "1 event is due again." : "\(count) events are due again.")
            }
        }

        private func unknown(_ webhook: String, _ declared: [String]) -> String {
            let known =
                declared.isEmpty
                ? "The settings declare none; --config names their file."
                : "The settings declare \(declared.joined(separator: ", "))."
            return "There is no webhook \(webhook), and no event was given up for one of that name. \(known)"
        }
    }
}
