/**
 * Names of enumerated integers, by textual convention and by object, as the MIBs of the curated tables have them
 * (`name=number`). IANAifType is not here: IANA adds to it, and its numbers are what people know.
 */
export const CONVENTION_NAMES: Readonly<Record<string, string>> = {
  EntitySensorDataScale:
    'yocto=1 zepto=2 atto=3 femto=4 pico=5 nano=6 micro=7 milli=8 units=9 kilo=10 mega=11 giga=12 tera=13 exa=14 peta=15 zetta=16 yotta=17',
  EntitySensorDataType:
    'other=1 unknown=2 voltsAC=3 voltsDC=4 amperes=5 watts=6 hertz=7 celsius=8 percentRH=9 rpm=10 cmm=11 truthvalue=12',
  EntitySensorStatus: 'ok=1 unavailable=2 nonoperational=3',
  InetAddressType: 'unknown=0 ipv4=1 ipv6=2 ipv4z=3 ipv6z=4 dns=16',
  InetVersion: 'unknown=0 ipv4=1 ipv6=2',
  IpAddressOriginTC: 'other=1 manual=2 dhcp=4 linklayer=5 random=6',
  IpAddressPrefixOriginTC: 'other=1 manual=2 wellknown=3 dhcp=4 routeradv=5',
  IpAddressStatusTC:
    'preferred=1 deprecated=2 invalid=3 inaccessible=4 unknown=5 tentative=6 duplicate=7 optimistic=8',
  LldpChassisIdSubtype:
    'chassisComponent=1 interfaceAlias=2 portComponent=3 macAddress=4 networkAddress=5 interfaceName=6 local=7',
  LldpManAddrIfSubtype: 'unknown=1 ifIndex=2 systemPortNumber=3',
  LldpPortIdSubtype:
    'interfaceAlias=1 portComponent=2 macAddress=3 networkAddress=4 interfaceName=5 agentCircuitId=6 local=7',
  OspfAuthenticationType: 'none=0 simplePassword=1 md5=2',
  PhysicalClass:
    'other=1 unknown=2 chassis=3 backplane=4 container=5 powerSupply=6 fan=7 sensor=8 module=9 port=10 stack=11 cpu=12',
  RowStatus: 'notExists=0 active=1 notInService=2 notReady=3 createAndGo=4 createAndWait=5 destroy=6',
  Status: 'enabled=1 disabled=2',
  StorageType: 'other=1 volatile=2 nonVolatile=3 permanent=4 readOnly=5',
  TruthValue: 'true=1 false=2',
  UCDErrorFix: 'noError=0 runFix=1',
  UCDErrorFlag: 'noError=0 error=1',
};

/** By `MIB::object`, for objects whose syntax is an enumeration of their own. */
export const OBJECT_NAMES: Readonly<Record<string, string>> = {
  'IF-MIB::ifAdminStatus': 'up=1 down=2 testing=3',
  'IF-MIB::ifOperStatus': 'up=1 down=2 testing=3 unknown=4 dormant=5 notPresent=6 lowerLayerDown=7',
  'IF-MIB::ifLinkUpDownTrapEnable': 'enabled=1 disabled=2',
  'IF-MIB::ifRcvAddressType': 'other=1 volatile=2 nonVolatile=3',
  'IP-MIB::ipForwarding': 'forwarding=1 notForwarding=2',
  'IP-MIB::ipv6IpForwarding': 'forwarding=1 notForwarding=2',
  'IP-MIB::ipv4InterfaceEnableStatus': 'up=1 down=2',
  'IP-MIB::ipv6InterfaceEnableStatus': 'up=1 down=2',
  'IP-MIB::ipv6InterfaceForwarding': 'forwarding=1 notForwarding=2',
  'IP-MIB::ipAddressType': 'unicast=1 anycast=2 broadcast=3',
  'IP-MIB::ipNetToPhysicalType': 'other=1 invalid=2 dynamic=3 static=4 local=5',
  'IP-MIB::ipNetToPhysicalState': 'reachable=1 stale=2 delay=3 probe=4 invalid=5 unknown=6 incomplete=7',
  'IP-MIB::ipDefaultRouterPreference': 'reserved=-2 low=-1 medium=0 high=1',
  'IP-MIB::ipNetToMediaType': 'other=1 invalid=2 dynamic=3 static=4',
  'BGP4-MIB::bgpPeerState': 'idle=1 connect=2 active=3 opensent=4 openconfirm=5 established=6',
  'BGP4-MIB::bgpPeerAdminStatus': 'stop=1 start=2',
  'BGP4-MIB::bgpPathAttrOrigin': 'igp=1 egp=2 incomplete=3',
  'BGP4-MIB::bgp4PathAttrOrigin': 'igp=1 egp=2 incomplete=3',
  'BGP4-MIB::bgp4PathAttrAtomicAggregate': 'lessSpecificRouteNotSelected=1 lessSpecificRouteSelected=2',
  'BGP4-MIB::bgp4PathAttrBest': 'false=1 true=2',
  'OSPF-MIB::ospfVersionNumber': 'version2=2',
  'OSPF-MIB::ospfRestartSupport': 'none=1 plannedOnly=2 plannedAndUnplanned=3',
  'OSPF-MIB::ospfRestartStatus': 'notRestarting=1 plannedRestart=2 unplannedRestart=3',
  'OSPF-MIB::ospfRestartExitReason': 'none=1 inProgress=2 completed=3 timedOut=4 topologyChanged=5',
  'OSPF-MIB::ospfStubRouterAdvertisement': 'doNotAdvertise=1 advertise=2',
  'OSPF-MIB::ospfImportAsExtern': 'importExternal=1 importNoExternal=2 importNssa=3',
  'OSPF-MIB::ospfAreaSummary': 'noAreaSummary=1 sendAreaSummary=2',
  'OSPF-MIB::ospfAreaNssaTranslatorRole': 'always=1 candidate=2',
  'OSPF-MIB::ospfAreaNssaTranslatorState': 'enabled=1 elected=2 disabled=3',
  'OSPF-MIB::ospfStubMetricType': 'ospfMetric=1 comparableCost=2 nonComparable=3',
  'OSPF-MIB::ospfLsdbType':
    'routerLink=1 networkLink=2 summaryLink=3 asSummaryLink=4 asExternalLink=5 multicastLink=6 nssaExternalLink=7 areaOpaqueLink=10',
  'OSPF-MIB::ospfIfType': 'broadcast=1 nbma=2 pointToPoint=3 pointToMultipoint=5',
  'OSPF-MIB::ospfIfState':
    'down=1 loopback=2 waiting=3 pointToPoint=4 designatedRouter=5 backupDesignatedRouter=6 otherDesignatedRouter=7',
  'OSPF-MIB::ospfIfMulticastForwarding': 'blocked=1 multicast=2 unicast=3',
  'OSPF-MIB::ospfVirtIfState': 'down=1 pointToPoint=4',
  'OSPF-MIB::ospfNbrState': 'down=1 attempt=2 init=3 twoWay=4 exchangeStart=5 exchange=6 loading=7 full=8',
  'OSPF-MIB::ospfNbmaNbrPermanence': 'dynamic=1 permanent=2',
  'OSPF-MIB::ospfNbrRestartHelperStatus': 'notHelping=1 helping=2',
  'OSPF-MIB::ospfNbrRestartHelperExitReason': 'none=1 inProgress=2 completed=3 timedOut=4 topologyChanged=5',
  'OSPF-MIB::ospfVirtNbrState':
    'down=1 attempt=2 init=3 twoWay=4 exchangeStart=5 exchange=6 loading=7 full=8',
  'OSPF-MIB::ospfVirtNbrRestartHelperStatus': 'notHelping=1 helping=2',
  'OSPF-MIB::ospfVirtNbrRestartHelperExitReason':
    'none=1 inProgress=2 completed=3 timedOut=4 topologyChanged=5',
  'OSPF-MIB::ospfExtLsdbType': 'asExternalLink=5',
  'OSPF-MIB::ospfAreaAggregateLsdbType': 'summaryLink=3 nssaExternalLink=7',
  'OSPF-MIB::ospfAreaAggregateEffect': 'advertiseMatching=1 doNotAdvertiseMatching=2',
  'OSPF-MIB::ospfAsLsdbType': 'asExternalLink=5 asOpaqueLink=11',
  'HOST-RESOURCES-MIB::hrDeviceStatus': 'unknown=1 running=2 warning=3 testing=4 down=5',
  'HOST-RESOURCES-MIB::hrPrinterStatus': 'other=1 unknown=2 idle=3 printing=4 warmup=5',
  'HOST-RESOURCES-MIB::hrDiskStorageAccess': 'readWrite=1 readOnly=2',
  'HOST-RESOURCES-MIB::hrDiskStorageMedia':
    'other=1 unknown=2 hardDisk=3 floppyDisk=4 opticalDiskROM=5 opticalDiskWORM=6 opticalDiskRW=7 ramDisk=8',
  'HOST-RESOURCES-MIB::hrFSAccess': 'readWrite=1 readOnly=2',
  'HOST-RESOURCES-MIB::hrSWRunType': 'unknown=1 operatingSystem=2 deviceDriver=3 application=4',
  'HOST-RESOURCES-MIB::hrSWRunStatus': 'running=1 runnable=2 notRunnable=3 invalid=4',
  'HOST-RESOURCES-MIB::hrSWInstalledType': 'unknown=1 operatingSystem=2 deviceDriver=3 application=4',
};
