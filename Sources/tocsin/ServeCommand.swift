import ArgumentParser
import FoundationEssentials
import Logging
import TocsinServer

/// The command `tocsin serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            Every setting is a flag (--port 9000), an environment variable (TOCSIN_PORT) and a key of a settings file \
            (--config tocsin.toml); a flag wins over the environment, the environment over the file. `tocsin settings` \
            lists them. SIGTERM or SIGINT stops the server gracefully; a second one at once. SIGHUP reads the settings \
            and their files anew and takes them as a whole, or not at all (docs/settings.md). SIGUSR1 makes the log tell \
            one step more for ten minutes, SIGUSR2 takes that back.

              tocsin serve --port 8080 --data-dir /var/lib/tocsin
            """
    )

    @Option(name: .customLong("ready-file"), help: "Write the server's address to this file once it accepts requests.")
    var readyFile: String?

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let (signals, hangups, levels) = (StopSignals(), HangupSignals(), LevelSignals())
        defer {
            hangups.stop()
            levels.stop()
            // A second signal ends the process at once, until all has ended.
            withExtendedLifetime(signals) {}
        }
        let flags = try options.flags()
        let loaded = try SettingsLoading.load(flags: flags)
        let log = LogDestination.standardError(loaded.settings, time: SystemTime())
        // Whoever reads the log has a moment to take what is left of it.
        defer { log.flush(within: .seconds(2)) }
        let application: Application
        do throws(StartError) {
            application = try await Self.makeApplication(loaded, flags, log)
        } catch {
            throw Self.failedStart(error.description, log)
        }
        let address: String
        do {
            address = try await application.start()
        } catch {
            await application.stop()
            throw Self.failedStart(error.description, log)
        }
        if let readyFile {
            do throws(SystemFile.Failure) {
                try SystemFile.replace(readyFile, with: Array(address.utf8), mode: 0o666)
            } catch {
                await application.stop()
                throw Self.failedStart("The ready file \(readyFile) cannot be written: \(error.reason).", log)
            }
        }
        let (reloads, steps, stops) = (hangups.signals, levels.signals, signals.signals)
        // Neither is waited for: a file that is read anew may block, and a stop may be hurried.
        let reloading = Task { [application] in for await _ in reloads { await application.reload() } }
        let asking = Task { [application] in for await _ in stops { application.askToStop() } }
        defer {
            reloading.cancel()
            asking.cancel()
        }
        let drainSeconds = await withDiscardingTaskGroup { [application] group -> Double? in
            group.addTask {
                for await step in steps {
                    switch step {
                    case .more: application.logControl.raise()
                    case .usual: application.logControl.reset()
                    }
                }
            }
            let drainSeconds = await application.untilAskedToStop()
            group.cancelAll()
            return drainSeconds
        }
        await application.stop(drainSeconds: drainSeconds ?? loaded.settings.server.drainSeconds)
    }

    /// What ends the command; whoever reads the log alone is told, too.
    private static func failedStart(_ reason: String, _ log: LogDestination) -> CommandFailure {
        log.tellFailedStart(reason, by: SystemTime())
        return CommandFailure(reason)
    }

    /// The server, with what systemd or its like has opened for it and wants to hear.
    private static func makeApplication(
        _ loaded: SettingsReading,
        _ flags: [String: String],
        _ log: LogDestination
    ) async throws(StartError) -> Application {
        let environment = ProcessInfo.processInfo.environment
        let notifier = ServiceNotifier(environment: environment) { StandardError.write("tocsin: warning: \($0)\n") }
        return try await Application(
            settings: loaded.settings,
            origins: loaded.origins,
            log: log,
            warnings: loaded.warnings,
            ownDocuments: CommandDocuments.all,
            rereading: { () throws(SettingsProblems) in try SettingsLoading.read(flags: flags) },
            notifier: notifier,
            sockets: try ActivatedSockets(environment: environment)
        )
    }
}
