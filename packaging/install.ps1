# Installs Throughline @VERSION@ for this user. Fetches one archive, and checks it against the checksum in this file.
$ErrorActionPreference = "Stop"
$name = "@ARCHIVE@"
$base = if ($env:THROUGHLINE_BASE_URL) { $env:THROUGHLINE_BASE_URL } else { "@BASE@" }
$bin = if ($env:THROUGHLINE_INSTALL_DIR) { $env:THROUGHLINE_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA "Programs\throughline" }
if ([System.Environment]::Is64BitOperatingSystem -eq $false) { throw "there is no archive for this machine; hint: build from source, as README.md says" }

$folder = Join-Path ([System.IO.Path]::GetTempPath()) ([System.Guid]::NewGuid())
New-Item -ItemType Directory $folder | Out-Null
try {
    $archive = Join-Path $folder $name
    Invoke-WebRequest -UseBasicParsing "$base/$name" -OutFile $archive
    $found = (Get-FileHash -Algorithm SHA256 $archive).Hash
    if ($found -ne "@SHA256@") { throw "the archive is not the one of the release: its checksum is $found; hint: try again; if it stays so, report it" }
    Expand-Archive $archive $folder
    New-Item -ItemType Directory -Force $bin | Out-Null
    Get-ChildItem (Join-Path $folder "throughline-@VERSION@-*") -Recurse -Filter *.exe | ForEach-Object {
        $target = Join-Path $bin $_.Name
        # A program that runs cannot be overwritten, but it can be renamed.
        if (Test-Path $target) { Move-Item -Force $target "$target.old" }
        Copy-Item $_.FullName $target
    }
} finally {
    Remove-Item -Recurse -Force $folder
}
$path = [System.Environment]::GetEnvironmentVariable("Path", "User")
if (-not ($path -split ";" -contains $bin)) { [System.Environment]::SetEnvironmentVariable("Path", "$path;$bin", "User") }
Write-Output "installed throughline @VERSION@ in $bin"
Write-Output "next: open a new terminal, and run: throughline install"
