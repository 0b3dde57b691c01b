import ArgumentParser
import Logging
import TocsinServer

/// The command `tocsin serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            Every setting is a flag (--port 9000), an environment variable (TOCSIN_PORT) and a key of a settings file
            (--config tocsin.toml); a flag wins over the environment, the environment over the file. `tocsin settings` lists
            them. SIGTERM or SIGINT stops the server gracefully; a second one at once. SIGHUP reads the
            settings and their files anew and takes them as a whole, or not at all (docs/settings.md).

              tocsin serve --port 8080 --data-dir /var/lib/tocsin
            """
    )

    @Option(name: .customLong("ready-file"), help: "Write the server's address to this file once it accepts requests.")
    var readyFile: String?

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let (signals, hangups) = (StopSignals(), HangupSignals())
        defer { hangups.stop() }
        let flags = try options.flags()
        let loaded = try SettingsLoading.load(flags: flags)
        let log = JSONLogHandler.standardError(time: SystemTime())
        // Whoever reads the log has a moment to take what is left of it.
        defer { log.flush(within: .seconds(2)) }
        for warning in loaded.warnings { log.write(Array("tocsin: warning: \(warning)\n".utf8)) }
        let application: Application
        do {
            application = try await Application(
                settings: loaded.settings,
                log: log,
                ownDocuments: CommandDocuments.all,
                rereading: { () throws(SettingsProblems) in try SettingsLoading.read(flags: flags) }
            )
        } catch {
            throw CommandFailure(error.description)
        }
        let address: String
        do {
            address = try await application.start()
        } catch {
            await application.stop()
            throw CommandFailure(error.description)
        }
        if let readyFile {
            do throws(SystemFile.Failure) {
                try SystemFile.replace(readyFile, with: Array(address.utf8), mode: 0o666)
            } catch {
                await application.stop()
                throw CommandFailure("The ready file \(readyFile) cannot be written: \(error.reason).")
            }
        }
        let reloads = hangups.signals
        await withDiscardingTaskGroup { [application] group in
            group.addTask { for await _ in reloads { _ = await application.reloader.reload() } }
            await signals.first()
            group.cancelAll()
        }
        await application.stop()
    }
}
