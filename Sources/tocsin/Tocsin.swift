import ArgumentParser
import Glibc
import TocsinServer

/// The command line: one file a command.
@main
struct Tocsin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tocsin",
        abstract: "A notification server you own: GraphQL in, phones and live feeds out.",
        discussion: """
            `tocsin serve` runs the server; `publish` and `subscribe` talk to a running one; `event`, `ping` and \
            `sendmail` are for hosts and their monitoring; the other commands manage the server. Exit codes: 0 done, \
            1 failed, 2 wrong use.
            """,
        version: BuildInfo.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [
                    ServeCommand.self, UserCommand.self, GroupCommand.self, TokenCommand.self, KeyCommand.self,
                    DeviceCommand.self, MemberCommand.self, AuditCommand.self, MigrateCommand.self, BackupCommand.self,
                    AdminCommand.self, ExportCommand.self, ImportCommand.self, ImportDevicesCommand.self,
                    SettingsCommand.self, SchemaCommand.self, GenerateCommand.self, ReceiverCommand.self,
                    VAPIDCommand.self,
                    WebhooksCommand.self, TimersCommand.self, CapacityCommand.self,
                ]
            ),
            CommandGroup(
                name: "Client",
                subcommands: [
                    PublishCommand.self, SubscribeCommand.self, RegisterCommand.self, SimulateCommand.self,
                    TopicCommand.self, IntegrationCommand.self, MonitorCommand.self, DeliveriesCommand.self,
                    ExplainCommand.self, RedriveCommand.self, ScheduleCommand.self, DigestCommand.self,
                    ClientCommand.self,
                ]
            ),
            CommandGroup(
                name: "Hosts",
                subcommands: [EventCommand.self, PingCommand.self, SendmailCommand.self]
            ),
            CommandGroup(
                name: "Incidents",
                subcommands: [
                    IncidentsCommand.self, IncidentCommand.self, AckCommand.self, SnoozeCommand.self,
                    ResolveCommand.self, NoteCommand.self, WatchCommand.self,
                ]
            ),
            CommandGroup(
                name: "Trying out",
                subcommands: [SimulatorCommand.self, GraphQLCommand.self, DevCommand.self]
            ),
        ]
    )

    static func main() async {
        // A reload that comes while the server starts must not end it.
        if CommandLine.arguments.dropFirst().first == ServeCommand.configuration.commandName { HangupSignals.ignore() }
        var ran: (any ParsableCommand.Type)?
        do {
            var command = try await asyncParseAsRoot(SendmailCommand.arguments(of: CommandLine.arguments))
            ran = type(of: command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            StandardError.write("tocsin: \(failure.description)\n")
            exit(withError: ExitCode(failure.status))
        } catch {
            let code = exitCode(for: error)
            guard code == .validationFailure else { exit(withError: error) }
            StandardError.write((ran.map { wrongUse(error, of: $0) } ?? fullMessage(for: error)) + "\n")
            exit(withError: ExitCode(2))
        }
    }

    /// What is wrong, with the usage of the command that found it while it ran.
    private static func wrongUse(_ error: any Error, of command: any ParsableCommand.Type) -> String {
        let usage = usageString(for: command)
        // The words before the first option or argument are the command's names.
        let names = usage.split(separator: " ").prefix { !"<[-".contains($0.first ?? "<") }.joined(separator: " ")
        return "Error: \(message(for: error))\nUsage: \(usage)\n  See '\(names) --help' for more information."
    }
}

/// A command could not do what it was asked; the text says why and what to do.
///
/// Exit code 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    /// 1: it failed; 2: it was asked wrongly.
    let status: Int32

    init(_ description: String, status: Int32 = 1) {
        self.description = description
        self.status = status
    }
}

/// Lines for people, beside what programs read on standard output.
enum StandardError {
    static func write(_ text: String) {
        // There is nobody left to tell that this failed.
        try? SystemFile.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
