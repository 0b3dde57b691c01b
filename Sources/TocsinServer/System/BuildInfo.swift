import CBuild
import TocsinAPI

/// Which build of the program this is.
package enum BuildInfo {
    /// The release.
    package static let version = ServerInfo.version
    /// The commit it was built from, `-dirty` behind it if files differed; `unknown` where the
    /// build was not told (`TOCSIN_COMMIT`).
    package static let commit = String(cString: tocsin_build_commit())
    /// Both, as people read them: `0.1.0 (f3a9c1d20b7e)`.
    package static let text = commit == "unknown" ? version : "\(version) (\(commit))"
}
