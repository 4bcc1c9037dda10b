; The installer for Windows of the folder that `python -m app.bundle` makes there:
;     makensis -DVERSION=0.1.0 -DFOLDER=..\dist\llama-gui app\installer.nsi
; For one user, without the rights of an administrator. Chats and models lie elsewhere, and stay when it is removed.
Unicode true
SetCompressor /SOLID lzma
!ifndef VERSION
  !define VERSION "0.1.0"
!endif
!ifndef FOLDER
  !define FOLDER "..\dist\llama-gui"
!endif
!define ENTRY "Software\Microsoft\Windows\CurrentVersion\Uninstall\llama-gui"

Name "llama-gui"
OutFile "llama-gui-${VERSION}-setup.exe"
InstallDir "$LOCALAPPDATA\Programs\llama-gui"
InstallDirRegKey HKCU "${ENTRY}" "InstallLocation"
RequestExecutionLevel user
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Section
  ; What an older version had and this one has not must not be loaded.
  RMDir /r "$INSTDIR\_internal"
  SetOutPath "$INSTDIR"
  File /r "${FOLDER}/*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\llama-gui.lnk" "$INSTDIR\llama-gui-window.exe"
  WriteRegStr HKCU "${ENTRY}" "DisplayName" "llama-gui"
  WriteRegStr HKCU "${ENTRY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${ENTRY}" "DisplayIcon" "$INSTDIR\llama-gui-window.exe"
  WriteRegStr HKCU "${ENTRY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${ENTRY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegDWORD HKCU "${ENTRY}" "NoModify" 1
  WriteRegDWORD HKCU "${ENTRY}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  Delete "$SMPROGRAMS\llama-gui.lnk"
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\llama-gui.exe"
  Delete "$INSTDIR\llama-gui-window.exe"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR" ; whatever else lies there is the user's
  DeleteRegKey HKCU "${ENTRY}"
SectionEnd
