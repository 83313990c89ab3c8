; Installer for Windows, made by Inno Setup 6: iscc /DVersion=0.2.0 installers\windows\gradscribe.iss
; NOT TRIED: written after the documentation of Inno Setup, on a machine without Windows.
;
; Before it runs, build\bundle\windows must hold a Python with the window:
;   uv python install 3.12 --install-dir build\bundle\windows
;   (rename the folder that it makes to build\bundle\windows\python)
;   uv pip install --python build\bundle\windows\python\python.exe --break-system-packages -c constraints.txt dist\gradscribe-*.whl

#ifndef Version
  #define Version "0.2.0"
#endif

[Setup]
AppId=Gradscribe
AppName=Gradscribe
AppVersion={#Version}
AppPublisher=The Gradscribe authors
LicenseFile=..\..\LICENSE
SourceDir=..\..
OutputDir=dist
OutputBaseFilename=gradscribe-{#Version}-windows-x86_64
DefaultDirName={autopf}\Gradscribe
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
Compression=lzma2
SolidCompression=yes

[Files]
Source: "build\bundle\windows\python\*"; DestDir: "{app}\python"; Flags: recursesubdirs

[Icons]
Name: "{autoprograms}\Gradscribe"; Filename: "{app}\python\pythonw.exe"; Parameters: "-E -s -P -m gradscribe"; WorkingDir: "{userdocs}"

[Registry]
Root: HKA; Subkey: "Software\Classes\.tape\OpenWithProgids"; ValueType: string; ValueName: "Gradscribe.File"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.watch\OpenWithProgids"; ValueType: string; ValueName: "Gradscribe.File"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.gradscribe\OpenWithProgids"; ValueType: string; ValueName: "Gradscribe.File"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.py\OpenWithProgids"; ValueType: string; ValueName: "Gradscribe.File"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Gradscribe.File"; ValueType: string; ValueName: ""; ValueData: "Gradscribe"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Gradscribe.File\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\python\pythonw.exe"" -E -s -P -m gradscribe ""%1"""
