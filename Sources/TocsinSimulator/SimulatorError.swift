/// Why the simulator could not start.
package enum SimulatorError: Error, Sendable, CustomStringConvertible {
    /// A file or folder of the simulator could not be read or written.
    case file(path: String, reason: String)
    /// A key, certificate or signature could not be made or read.
    case keys(reason: String)
    /// A port could not be listened on.
    case listen(address: String, reason: String)

    /// What happened and what to do next.
    package var description: String {
        switch self {
        case .file(let path, let reason):
            "The simulator cannot use \(path): \(reason). Give it a folder it may write to."
        case .keys(let reason):
            "The simulator's keys are unusable: \(reason). Empty its folder, and it makes new ones."
        case .listen(let address, let reason):
            "The simulator cannot listen on \(address): \(reason). Choose another port, or 0 for any."
        }
    }
}
